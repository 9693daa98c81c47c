"""The numbers of a report as lines of CSV files."""

from collections.abc import Iterable, Sequence
from typing import Any

from eval_harness.report.matched import Comparison
from eval_harness.report.parts import Line
from eval_harness.report.scoreboard import Standing
from eval_harness.report.sections import Report
from eval_harness.report.statistics import MACRO, holm


def csv_tables(report: Report) -> dict[str, list[Line]]:
    """The lines of table3.csv, differences.csv and lengths.csv, one number per line."""
    differing = [_difference_lines("config", report.configs), _difference_lines("method", report.methods)]
    return {
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


def _score_lines(standing: Standing) -> Iterable[dict[str, Any]]:
    label, config, method = standing.setting
    names = {"model": label, "config": config, "method": method, "condition": standing.condition}
    for task, cell in standing.cells.items():
        counts = {f"n_{status.replace('/', '')}": count for status, count in cell.statuses.items()}
        head = next(iter(cell.means))
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
