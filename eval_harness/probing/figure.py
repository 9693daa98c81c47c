"""What a probe found as figures: hit rates of heads (paper, figure 6), and answers over Q and M (figure 7)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from builders.files import save_figure
from eval_harness.probing.heads import Cell, Heads

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(found: Mapping[str, Heads], ms: Sequence[int], out: Path) -> None:
    """Writes the figure of hit rates as PNG or SVG."""
    save_figure(heads_figure(found, ms[0]), out)


def heads_figure(found: Mapping[str, Heads], m: int) -> "Figure":
    """The map of the first model's hit rates at M, and the heads of all models, best first (figure 6)."""
    import numpy as np
    from matplotlib.figure import Figure

    name, first = next(iter(found.items()))
    rates = np.array(first.hit_rates[m])
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.6])
    image = left.imshow(rates, aspect="auto", cmap="viridis", vmin=0, origin="lower")
    left.set_yticks(range(0, len(first.layers), max(1, len(first.layers) // 10)))
    left.set_yticklabels([first.layers[at] for at in left.get_yticks()])
    left.set_xlabel("query head")
    left.set_ylabel("layer")
    left.set_title(f"hit rate, {name}, M={m}", fontsize=10)
    figure.colorbar(image, ax=left)
    for model, heads in found.items():
        ordered = np.sort(np.array(heads.hit_rates[m]).ravel())[::-1]
        above = ordered[ordered > 0]
        right.plot(range(1, len(above) + 1), above, label=f"{model} ({len(above)} heads above 0)")
    right.set_xscale("log")
    right.set_xlabel("heads, best first")
    right.set_ylabel(f"hit rate, M={m}")
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False, fontsize=8)
    return figure


def draw_sweep(cells: Sequence[Cell], name: str, out: Path) -> None:
    """Writes a PNG or SVG: a row for each task, its score, evidence recall and passages kept against Q, a line an M."""
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(cell.task for cell in cells))
    columns = [("score", ""), ("evidence_recall", "evidence recall"), ("n_passages", "passages kept")]
    figure = Figure(figsize=(9, 0.6 + 2.1 * len(tasks)), layout="constrained")
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
    save_figure(figure, out)
