"""What a probe found as figures: hit rates of heads (paper, figure 6), and answers over Q and M (figure 7)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.files import save_figure
from eval_harness.probing.heads import Cell, Heads

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(found: Mapping[str, Heads], ms: Sequence[int], out: Path) -> None:
    """Writes the figure of hit rates as PNG or SVG."""
    save_figure(heads_figure(found, ms[0]), out)


def heads_figure(found: Mapping[str, Heads], m: int) -> "Figure":
    """The map of the first model's hit rates at M, and for each task the heads of all models, best first (figure 6)."""
    from matplotlib.figure import Figure

    tasks = [task for task in next(iter(found.values())).tasks if all(task in heads.tasks for heads in found.values())]
    columns = min(1 + max(1, len(tasks)), 3)
    rows = -(-(1 + max(1, len(tasks))) // columns)
    figure = Figure(figsize=(3.4 * columns, 0.4 + 3 * rows), layout="constrained")
    first, *panels = figure.subplots(rows, columns, squeeze=False).ravel()
    name = next(iter(found))
    _map(figure, first, found[name], m, name)
    for panel, task in zip(panels, tasks or ["all tasks"], strict=False):
        mine = {model: heads.of(task) if tasks else heads for model, heads in found.items()}
        _curves(panel, mine, m, f"{task} (n={', '.join(map(str, dict.fromkeys(one.n for one in mine.values())))})")
    for panel in panels[max(1, len(tasks)) :]:
        panel.set_axis_off()
    return figure


def _map(figure: "Figure", panel: Any, heads: Heads, m: int, name: str) -> None:
    """Hit rates over all tasks by layer and head."""
    import numpy as np

    image = panel.imshow(np.array(heads.hit_rates[m]), aspect="auto", cmap="viridis", vmin=0, origin="lower")
    panel.set_yticks(range(0, len(heads.layers), max(1, len(heads.layers) // 10)))
    panel.set_yticklabels([heads.layers[at] for at in panel.get_yticks()])
    panel.set_xlabel("query head")
    panel.set_ylabel("layer")
    panel.set_title(f"hit rate, {name}, all tasks, M={m}", fontsize=8)
    figure.colorbar(image, ax=panel)


def _curves(panel: Any, found: Mapping[str, Heads], m: int, title: str) -> None:
    """Each model's heads above 0, best first."""
    import numpy as np

    for model, heads in found.items():
        ordered = np.sort(np.array(heads.hit_rates[m]).ravel())[::-1]
        above = ordered[ordered > 0]
        panel.plot(range(1, len(above) + 1), above, label=f"{model} ({len(above)} above 0)")
    panel.set_xscale("log")
    panel.set_ylim(0, 1)
    panel.set_xlabel("heads, best first")
    panel.set_ylabel(f"hit rate, M={m}")
    panel.set_title(title, fontsize=8)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=7)


def draw_sweep(cells: Sequence[Cell], name: str, out: Path) -> None:
    """Writes the figure of a sweep as PNG or SVG."""
    save_figure(sweep_figure(cells, name), out)


def sweep_figure(cells: Sequence[Cell], name: str) -> "Figure":
    """A row for each task: its score, evidence recall, exact retrievals and passages kept against Q, a line an M."""
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(cell.task for cell in cells))
    columns = [("score", ""), ("evidence_recall", "evidence recall"), ("n_passages", "passages kept")]
    if all(cell.retrieval_exact is not None for cell in cells):
        columns.insert(2, ("retrieval_exact", "retrieval exact"))
    figure = Figure(figsize=(3 * len(columns), 0.6 + 2.1 * len(tasks)), layout="constrained")
    panels = figure.subplots(len(tasks), len(columns), squeeze=False, sharex=True)
    for row, task in zip(panels, tasks, strict=True):
        mine = [cell for cell in cells if cell.task == task]
        for panel, (field, label) in zip(row, columns, strict=True):
            for m in sorted({cell.m for cell in mine}):
                line = sorted((cell.q, getattr(cell, field)) for cell in mine if cell.m == m)
                panel.plot(*zip(*line, strict=True), marker="o", markersize=3, label=f"M={m}")
            panel.set_title(f"{task}: {label or mine[0].metric} (n={mine[0].n})", fontsize=8)
            panel.spines[["top", "right"]].set_visible(False)
            panel.set_ylim(bottom=0)
    for panel in panels[-1]:
        panel.set_xlabel("heads, Q")
    panels[0][0].legend(frameon=False, fontsize=7)
    figure.suptitle(name, fontsize=10)
    return figure
