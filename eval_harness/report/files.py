"""The report as files: Markdown, CSV and pictures."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from eval_harness.report.matched import Comparison
from eval_harness.report.scoreboard import Standing
from eval_harness.report.sections import Report, Section, sections
from eval_harness.report.statistics import MACRO, holm
from eval_harness.scorers import scorer_for

FIGURES = {
    "figure1": "Figure 1: score against confounding ratio, with 95 % bands",
    "figure_length": "Score against length, with 95 % bands",
}


def write_markdown(report: Report, pictures: Sequence[str], path: Path) -> None:
    """Writes report.md; `pictures` are the figures that lie beside it."""
    parts = [f"# {_escaped(report.study.title)}: results"]
    for section in sections(report):
        parts.append(_markdown(section))
        if section.name == "table3":
            parts += [f"![{FIGURES[name]}]({name}.png)\n\n*{FIGURES[name]}*" for name in pictures]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Writes table3.csv, differences.csv and lengths.csv, one line a number; those without lines are left out."""
    differing = [_difference_lines("config", report.configs), _difference_lines("method", report.methods)]
    tables = {
        "table3.csv": [line for standing in report.standings for line in _score_lines(standing)],
        "differences.csv": [line for lines in differing for line in lines],
        "lengths.csv": [
            {"model": f.model, "method": f.method, "configs": " ".join(f.configs), "task": task}
            | _named(change, "slope_per_doubling")
            | {"effective_length": f.effective if task == MACRO else ""}
            for f in report.falls
            for task, change in f.slopes.items()
        ],
    }
    written = []
    for name, lines in tables.items():
        if lines:
            (folder / name).write_text(_csv(lines), encoding="utf-8")
            written.append(folder / name)
    return written


def _markdown(section: Section) -> str:
    """A section with its table, cells escaped and lines kept."""
    lines = [[_cell(text) for text in row] for row in (section.header, *section.rows)]
    marks = [":---"] * section.left + ["---:"] * (len(section.header) - section.left)
    table = [f"| {' | '.join(row)} |" for row in (lines[0], marks, *lines[1:])]
    return "\n\n".join([f"## {_escaped(section.title)}", *section.notes, "\n".join(table)])


def _cell(text: str) -> str:
    return "<br>".join(_escaped(line) for line in text.split("\n"))


def _escaped(text: str) -> str:
    """Text that a Markdown reader shows as it is."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "\\`*[]|":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _score_lines(standing: Standing) -> Iterable[dict[str, Any]]:
    label, config, method = standing.setting
    names = {"model": label, "config": config, "method": method, "condition": standing.condition}
    for task, cell in standing.cells.items():
        counts = {f"n_{status.replace('/', '')}": count for status, count in cell.statuses.items()}
        head = scorer_for(task).metrics[0]
        for metric, mean in cell.means.items():
            bounds = standing.intervals[task] if metric == head else None
            yield names | {"task": task, "metric": metric, "n": cell.n, "score": mean} | _bounds(bounds) | counts
    macro = standing.intervals[MACRO]
    if macro:
        yield names | {"task": MACRO, "metric": "", "n": macro.n, "score": macro.mean} | _bounds(macro)


def _bounds(interval: Any) -> dict[str, float | None]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}


def _difference_lines(kind: str, found: Sequence[Comparison]) -> list[dict[str, Any]]:
    adjusted = iter(holm([change.p for one in found for change in one.changes.values() if change]))
    return [
        {"between": kind, "model": one.model, "held": one.held, "first": one.first, "second": one.second, "task": task}
        | _named(change, "difference")
        | {"p_holm": next(adjusted) if change else None}
        for one in found
        for task, change in one.changes.items()
    ]


def _named(change: Any, name: str) -> dict[str, float | None]:
    values = change or (None,) * 5
    return dict(zip((name, "low", "high", "n", "p"), values, strict=True))


def _csv(lines: Sequence[dict[str, Any]]) -> str:
    """Lines with the columns of all of them; a number that is not there is empty, never 0."""
    output = StringIO()
    columns = list(dict.fromkeys(name for line in lines for name in line))
    writer = csv.DictWriter(output, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in line.items()} for line in lines
    )
    return output.getvalue()
