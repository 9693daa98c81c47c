"""Curves over length, depth and expansion."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from eval_harness.protocols.needles.analysis import Analysis, Key
from eval_harness.protocols.needles.haystacks import NEEDLES, Needle
from eval_harness.protocols.needles.sections import MAIN, label, labels
from eval_harness.report.figures import COLOURS, MARKERS
from eval_harness.report.parts import Drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {"normalised": "normalised similarity", "ratio": "ratio against controls", "auc": "AUC"}
_CHANCE = {"ratio": 0.5, "auc": 0.5}
_STYLES: dict[Needle, str] = {"one_hop": "-", "literal": "--"}
_TITLES: dict[Needle, str] = {"one_hop": "one-hop", "literal": "literal"}


class Curve(NamedTuple):
    """One line of a figure: points (x, mean, low, high)."""

    name: str
    colour: str
    style: str
    marker: str
    points: list[tuple[float, float, float, float]]


def drawn(found: Analysis, limit: int | None) -> list[Drawn]:
    """The figures with at least two points on a line; the encoder's limit is marked if it is among the lengths.

    Lines beyond the number of colours are omitted.
    """
    figures = []
    if len(found.configs) > 1:
        caption = "Similarity, ratio and AUC against length, with 95 % bands; grey: chance, and the encoder's limit"
        figures.append(Drawn("figure_length", _over_length(found, limit), caption, MAIN))
    if len({key.depth for key in found.cells if key.depth is not None}) > 1:
        caption = "Normalised similarity by the depth of the needle"
        figures.append(Drawn("figure_depth", _over_depth(found), caption, f"depth-{NEEDLES[-1]}"))
    if len(found.terms) > 1 and len(found.configs) > 1:
        caption = "The same with expanded questions"
        figures.append(Drawn("figure_expansion", _over_expansion(found, limit), caption, "expansion"))
    return figures


def _over_length(found: Analysis, limit: int | None) -> "Figure":
    figure, axes = _figure(1, len(_PANELS))
    for axis, measure in zip(axes[0], _PANELS, strict=True):
        curves = [
            Curve(_TITLES[needle], COLOURS[at], _STYLES[needle], MARKERS[at], _points(found, 0, needle, measure))
            for at, needle in enumerate(NEEDLES)
        ]
        _draw(axis, curves, _PANELS[measure])
        _lengths(axis, found, limit, measure)
    _legend(figure)
    return figure


def _over_expansion(found: Analysis, limit: int | None) -> "Figure":
    figure, axes = _figure(len(NEEDLES), len(_PANELS))
    for row, needle in zip(axes, NEEDLES, strict=True):
        for axis, measure in zip(row, _PANELS, strict=True):
            curves = [
                Curve(f"{n} terms" if n else "none", COLOURS[at], "-", MARKERS[at], _points(found, n, needle, measure))
                for at, n in enumerate(found.terms[: len(COLOURS)])
            ]
            _draw(axis, curves, f"{_TITLES[needle]}: {_PANELS[measure]}")
            _lengths(axis, found, limit, measure)
    _legend(figure)
    return figure


def _over_depth(found: Analysis) -> "Figure":
    figure, axes = _figure(1, len(NEEDLES), sharey=True)
    for axis, needle in zip(axes[0], NEEDLES, strict=True):
        curves = []
        for at, config in enumerate(found.configs):
            by_depth = {
                float(key.depth): cell.measures["normalised"]
                for key, cell in found.cells.items()
                if key.depth is not None and (key.config, key.needle) == (config, needle)
            }
            points = [(depth, *one[:3]) for depth, one in sorted(by_depth.items()) if one]
            curves.append(
                Curve(label(found, config), COLOURS[at % len(COLOURS)], "-", MARKERS[at % len(MARKERS)], points)
            )
        _draw(axis, curves, f"{_TITLES[needle]}: normalised similarity", bands=False)
        axis.set_xlabel("depth, %", fontsize=9)
    _legend(figure)
    return figure


def _points(found: Analysis, terms: int, needle: Needle, measure: str) -> list[tuple[float, float, float, float]]:
    cells = {config: found.cells.get(Key(terms, config, needle)) for config in found.configs}
    intervals: Mapping[str, object] = {c: cell.measures[measure] for c, cell in cells.items() if cell}
    return [
        (found.configs[config].tokens or 0, *one[:3]) for config, one in intervals.items() if isinstance(one, tuple)
    ]


def _figure(rows: int, columns: int, sharey: bool = False) -> tuple["Figure", Any]:
    """A figure with its axes by row and column."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.9 * columns + 0.6, 2.4 * rows + 0.7), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, sharey=sharey)


def _draw(axis: "Axes", curves: Sequence[Curve], title: str, bands: bool = True) -> None:
    for curve in curves:
        if not curve.points:
            continue
        xs, means, lows, highs = zip(*curve.points, strict=True)
        axis.plot(
            xs,
            means,
            label=curve.name,
            color=curve.colour,
            linestyle=curve.style,
            marker=curve.marker,
            markersize=4,
            linewidth=1.4,
        )
        if bands:
            axis.fill_between(xs, lows, highs, color=curve.colour, alpha=0.15, linewidth=0)
    axis.set_title(title, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#e3e6ea", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8)


def _lengths(axis: "Axes", found: Analysis, limit: int | None, measure: str) -> None:
    lengths = [facts.tokens or 0 for facts in found.configs.values()]
    axis.set_xscale("log", base=2)
    axis.set_xticks(lengths, labels(found))
    axis.set_xticks([], minor=True)
    axis.set_xlabel("length, tokens", fontsize=9)
    if measure in _CHANCE:
        axis.axhline(_CHANCE[measure], color="#8a9099", linewidth=0.8, linestyle=":")
    if limit is not None and lengths[0] <= limit <= lengths[-1]:
        axis.axvline(limit, color="#8a9099", linewidth=0.8, linestyle=":")


def _legend(figure: "Figure") -> None:
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=max(1, len(labels)), frameon=False, fontsize=8)
