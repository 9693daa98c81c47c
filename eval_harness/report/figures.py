"""Figure 1, score against confounding ratio, and score against length."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from builders.files import save_figure
from eval_harness.report.scoreboard import Standing
from eval_harness.report.sections import Report
from eval_harness.report.statistics import MACRO
from eval_harness.run.facts import ConfigFacts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colour-blind safe palette; markers repeat the distinction.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
BOUNDS = {"closed_book": (":", "x"), "oracle": ("--", "*")}  # bounds for the other conditions


class Point(NamedTuple):
    """A mean at a position on the x axis, with its interval."""

    x: float
    mean: float
    low: float
    high: float


class Line(NamedTuple):
    """The points of one model and method in one panel."""

    model: str
    method: str
    condition: str
    points: list[Point]


Panels = dict[str, dict[str, list[Line]]]  # by row title, then task


def by_ratio(report: Report) -> Panels:
    """Lines over confounding ratios in percent: a row of panels for each length with at least two ratios."""
    return _panels(report, lambda facts: facts.length or "", lambda facts: facts.ratio)


def by_length(report: Report) -> Panels:
    """Lines over lengths in tokens: a row of panels for each ratio (or family) with at least two lengths."""
    return _panels(report, _line_name, lambda facts: facts.tokens)


def ratio_figure(report: Report) -> "Figure | None":
    """Figure 1; None if no length has two ratios."""
    return lines_figure(by_ratio(report), "confounding ratio, %", report.study.headlines, log=False)


def length_figure(report: Report) -> "Figure | None":
    """Score against length; None if no ratio has two lengths."""
    return lines_figure(by_length(report), "length, tokens", report.study.headlines, log=True)


def write_png(figure: "Figure", path: Path) -> None:
    """Writes a figure without the library's version, so that equal figures have equal bytes."""
    save_figure(figure, path)


def svg_of(figure: "Figure") -> bytes:
    """A figure as SVG, with text as paths so that it needs no font, and without a date."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "icr2", "svg.fonttype": "path"}):
        output = BytesIO()
        figure.savefig(output, format="svg", metadata={"Date": None, "Creator": None})
    return output.getvalue()


def _panels(report: Report, row_of: Callable[[ConfigFacts], str], x_of: Callable[[ConfigFacts], int | None]) -> Panels:
    study = report.study
    columns = [*study.tasks, MACRO] if len(study.tasks) > 1 else study.tasks
    rows: dict[str, set[int]] = {}
    for config in study.configs:
        if (x := x_of(study.facts[config])) is not None:
            rows.setdefault(row_of(study.facts[config]), set()).add(x)
    places = {config: x_of(facts) for config, facts in study.facts.items()}
    found: Panels = {}
    for row in (row for row, xs in rows.items() if len(xs) > 1):
        mine = [one for one in report.standings if row_of(study.facts[one.setting.config]) == row]
        found[row] = {task: _lines(mine, task, places) for task in columns}
    return found


def _lines(found: Sequence[Standing], task: str, places: Mapping[str, int | None]) -> list[Line]:
    lines: dict[tuple[str, str], Line] = {}
    for standing in found:
        label, config, method = standing.setting
        interval, x = standing.intervals.get(task), places[config]
        if interval and x is not None:
            line = lines.setdefault((label, method), Line(label, method, standing.condition, []))
            line.points.append(Point(x, *(100 * bound for bound in interval[:3])))
    for line in lines.values():
        line.points.sort()
    return list(lines.values())


def _line_name(facts: ConfigFacts) -> str:
    return facts.family if facts.ratio is None else f"p{facts.ratio}"


def lines_figure(panels: Panels, x_label: str, headlines: Mapping[str, str], *, log: bool) -> "Figure | None":
    """Rows of panels, one panel per task with the name of its metric; None without a panel."""
    if not panels:
        return None
    from matplotlib.figure import Figure

    columns = list(next(iter(panels.values())))
    figure = Figure(figsize=(2.5 * len(columns) + 0.6, 2.3 * len(panels) + 0.9), layout="constrained")
    axes = figure.subplots(len(panels), len(columns), squeeze=False, sharex=True, sharey="col")
    looks = _looks(panels)
    places = sorted({p.x for row in panels.values() for lines in row.values() for line in lines for p in line.points})
    for row, (title, by_task) in enumerate(panels.items()):
        for column, (task, lines) in enumerate(by_task.items()):
            axis = axes[row][column]
            _draw(axis, lines, looks)
            axis.set_xlabel(x_label if row == len(panels) - 1 else "", fontsize=9)
            heading = f"{task}\n{headlines.get(task, '')}".strip() if row == 0 else ""
            _title(axis, heading, title if column == 0 else "")
            _scale(axis, places, log=log)
    _legend(figure)
    return figure


def _legend(figure: "Figure") -> None:
    found = [axis.get_legend_handles_labels() for axis in figure.axes]
    handles = {label: handle for handles, labels in found for handle, label in zip(handles, labels, strict=True)}
    across = max(1, min(len(handles), int(figure.get_figwidth() / 2.2)))  # 2.2 inches fit the longest name
    figure.legend(
        list(handles.values()), list(handles), loc="outside upper center", ncols=across, frameon=False, fontsize=8
    )


def _looks(panels: Panels) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Colour, line and marker of each model and method: colours distinguish models, or methods of a single model."""
    lines = [line for by_task in panels.values() for found in by_task.values() for line in found]
    models = list(dict.fromkeys(line.model for line in lines))
    methods = list(dict.fromkeys(line.method for line in lines))
    looks = {}
    for line in lines:
        at = models.index(line.model) if len(models) > 1 else methods.index(line.method)
        style, marker = BOUNDS.get(line.condition, ("-", MARKERS[methods.index(line.method) % len(MARKERS)]))
        looks[line.model, line.method] = (COLOURS[at % len(COLOURS)], style, marker)
    return looks


def _draw(axis: "Axes", lines: Sequence[Line], looks: dict[tuple[str, str], tuple[str, str, str]]) -> None:
    several = len({model for model, _ in looks}) > 1
    for line in lines:
        colour, style, marker = looks[line.model, line.method]
        xs = [point.x for point in line.points]
        label = f"{line.model}, {line.method}" if several else line.method
        axis.plot(
            xs,
            [point.mean for point in line.points],
            color=colour,
            linestyle=style,
            marker=marker,
            markersize=4,
            linewidth=1.4,
            label=_plain(label),
        )
        if line.condition not in BOUNDS:
            lows, highs = [point.low for point in line.points], [point.high for point in line.points]
            axis.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)


def _title(axis: "Axes", heading: str, row: str) -> None:
    if heading:
        axis.set_title(_plain(heading), fontsize=9)
    if row:
        axis.set_ylabel(_plain(f"{row}\nscore, %"), fontsize=9)


def _scale(axis: "Axes", places: Sequence[float], *, log: bool) -> None:
    if log:
        axis.set_xscale("log", base=2)
        axis.set_xticks(places, [_tokens(place) for place in places])
        axis.set_xticks([], minor=True)
    else:
        axis.set_xticks(places, [f"{place:g}" for place in places])
    axis.set_ylim(bottom=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#e3e6ea", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.tick_params(labelsize=8)


def _tokens(place: float) -> str:
    """A number of tokens in the notation of lengths: 4096 is 4k."""
    for size, letter in ((2**20, "m"), (2**10, "k")):
        if place >= size and place % size == 0:
            return f"{place / size:g}{letter}"
    return f"{place:g}"


def _plain(text: str) -> str:
    """Text escaped so that matplotlib does not parse it as a formula."""
    return text.replace("$", r"\$")
