"""Length against position: how much of the oracle's advantage the full context recovers, by depth of the gold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from eval_harness.protocols.oncu.fields import HEADLINE
from eval_harness.protocols.oncu.groups import by_depth
from eval_harness.protocols.oncu.matched import FULL, Matched
from eval_harness.protocols.oncu.recovery import Estimate, clip
from eval_harness.run.facts import Configs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = dict[tuple[str, int], float | None]
PANELS = ("headline score, full context", "R of the full context, clipped")
INVALID = "invalid"


class Grid(NamedTuple):
    """A model's headline score on configs of several lengths, by depth of the gold in percent.

    `configs` are by name, each with its length; `cells` by config and depth.
    """

    model: str
    configs: dict[str, str]
    depths: list[int]
    cells: dict[tuple[str, int], Estimate]


def grids(found: Sequence[Matched], facts: Configs) -> list[Grid]:
    """A grid for each model with instances of known depth, shortest length first."""
    by_model: dict[str, dict[tuple[str, int], Estimate]] = {}
    for one in sorted(found, key=lambda one: facts[one.config].tokens or 0):
        for depth, group in by_depth(one).items():
            by_model.setdefault(one.model, {})[one.config, depth] = group.fields[HEADLINE]
    return [
        Grid(
            model,
            {config: facts[config].length or config for config, _ in cells},
            sorted({depth for _, depth in cells}),
            cells,
        )
        for model, cells in by_model.items()
    ]


def depths_of(found: Sequence[Grid]) -> list[int]:
    """Every depth of a grid, in ascending order."""
    return sorted({depth for grid in found for depth in grid.depths})


def heat_map(found: Sequence[Grid]) -> "Figure":
    """A row of two panels for each model: the score of the full context, and its R."""
    from matplotlib.figure import Figure

    widest = max(len(grid.depths) for grid in found)
    tallest = max(len(grid.configs) for grid in found)
    figure = Figure(figsize=(2 * (0.52 * widest + 1.6), len(found) * (0.42 * tallest + 1.5)), layout="constrained")
    axes = figure.subplots(len(found), len(PANELS), squeeze=False)
    for row, grid in enumerate(found):
        scores: Values = {at: cell.scores[FULL].mean for at, cell in grid.cells.items()}
        recovered: Values = {at: cell.recovered[FULL].raw for at, cell in grid.cells.items()}
        for axis, values, title in zip(axes[row], (scores, recovered), PANELS, strict=True):
            _draw(axis, grid, values)
            axis.set_title(f"{grid.model}: {title}".replace("$", r"\$"), fontsize=9)
    return figure


def _draw(axis: "Axes", grid: Grid, values: Values) -> None:
    import numpy as np

    places = [[(config, depth) for depth in grid.depths] for config in grid.configs]
    shades = [[np.nan if (v := values.get(at)) is None else clip(v) for at in line] for line in places]
    axis.set_facecolor("#d9dce1")
    axis.imshow(np.array(shades, dtype=float), cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for y, line in enumerate(places):
        for x, at in enumerate(line):
            if at in values:
                value = values[at]
                text = INVALID if value is None else f"{clip(value):.2f}"
                dark = value is not None and clip(value) < 0.5
                axis.text(x, y, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
    axis.hlines(np.arange(1, len(places)) - 0.5, -0.5, len(grid.depths) - 0.5, color="white", linewidth=1)
    axis.vlines(np.arange(1, len(grid.depths)) - 0.5, -0.5, len(places) - 0.5, color="white", linewidth=1)
    axis.set_xticks(range(len(grid.depths)), [str(depth) for depth in grid.depths], fontsize=8)
    axis.set_yticks(range(len(grid.configs)), list(grid.configs.values()), fontsize=8)
    axis.set_xlabel("depth of the gold, % of the context", fontsize=8)
