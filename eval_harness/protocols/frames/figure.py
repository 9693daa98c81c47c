"""Accuracy and recall over the rounds of a multi-step search."""

from typing import TYPE_CHECKING

from eval_harness.protocols.frames.analysis import Analysis, rounds
from eval_harness.report.figures import COLOURS, MARKERS
from eval_harness.report.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = (":", "--", "-.", (0, (1, 3)), (0, (5, 1)))  # methods without rounds


def rounds_figure(found: Analysis) -> "Figure | None":
    """Lines of the multi-step methods with 95 % bands, the others as levels; None without answers of two rounds."""
    by_method = {method: rounds(found, method) for method in found.stepping}
    if all(sum(one.accuracy is not None for one in made) < 2 for made in by_method.values()):
        return None
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7.6, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, (method, made) in enumerate(by_method.items()):
        look = (COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)])
        _line(left, method, [(one.number, one.accuracy) for one in made if one.accuracy], look)
        _line(right, method, [(one.number, one.recall) for one in made if one.recall], look)
    levels = [method for method in found.rows if method not in by_method]
    for place, method in enumerate(levels):
        if level := found.accuracy(method):
            left.axhline(
                100 * level.mean, color="#555555", linestyle=_STYLES[place % len(_STYLES)], linewidth=1, label=method
            )
    for axis, name in ((left, "accuracy, %"), (right, "gold articles found, %")):
        axis.set_xlabel("round", fontsize=9)
        axis.set_ylabel(name, fontsize=9)
        axis.set_ylim(bottom=0)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#e3e6ea", linewidth=0.6)
        axis.tick_params(labelsize=8)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    return figure


def _line(axis: "Axes", name: str, points: list[tuple[int, Interval]], look: tuple[str, str]) -> None:
    colour, marker = look
    places = [place for place, _ in points]
    means, lows, highs = ([100 * found[at] for _, found in points] for at in range(3))
    axis.plot(places, means, color=colour, marker=marker, markersize=4, linewidth=1.4, label=name)
    axis.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)
