"""Scores by config, method and task, each with its denominator and with what was left out or went wrong."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.table import Table

from eval_harness.results import Row
from eval_harness.scorers import scorer_for

COUNTED = ("ok", "unparsed", "error")  # the denominator; the last two count as wrong


class Cell(NamedTuple):
    """One task under one config and method: means over `n` rows, None where n is 0, and how many rows have each status.

    The first metric is the headline.
    """

    config: str
    method: str
    task: str
    n: int
    means: dict[str, float | None]
    statuses: dict[str, int]

    @property
    def headline(self) -> float | None:
        """The mean of the task's headline metric."""
        return next(iter(self.means.values()))


def cells(rows: Iterable[Row]) -> list[Cell]:
    """The cells of the rows, sorted by config and method as they first appear, then by task."""
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        groups.setdefault((row.config, row.method), {}).setdefault(row.task, []).append(row)
    return [_cell(*key, task, tasks[task]) for key, tasks in groups.items() for task in sorted(tasks)]


def macro(tasks: Sequence[Cell]) -> float | None:
    """The mean over tasks of their headline scores, each task counting the same; None unless every task has one."""
    scores = [score for cell in tasks if (score := cell.headline) is not None]
    return sum(scores) / len(scores) if scores and len(scores) == len(tasks) else None


def summary(found: Sequence[Cell]) -> dict[str, Any]:
    """The cells and macro averages as plain values, for summary.json."""
    return {
        "cells": [{**cell._asdict(), "headline": next(iter(cell.means))} for cell in found],
        "macro_over_tasks": [
            {"config": config, "method": method, "n_tasks": len(tasks), "score": macro(tasks)}
            for (config, method), tasks in _by_setting(found).items()
        ],
    }


def table(found: Sequence[Cell], title: str) -> Table:
    """Configs and methods down, tasks across: scores in percent with n, and counts of what is not ok.

    A further metric of a task is printed where its score is another one.
    """
    tasks = sorted({cell.task for cell in found})
    result = Table(title=title)
    for name in ("config", "method"):
        result.add_column(name, no_wrap=True)
    for task in tasks:
        result.add_column(f"{task}\n{scorer_for(task).metrics[0]}", justify="right", overflow="fold")
    result.add_column("macro average\nover tasks", justify="right")
    for (config, method), row in _by_setting(found).items():
        by_task = {cell.task: cell for cell in row}
        texts = [_text(by_task[task]) if task in by_task else "–" for task in tasks]
        result.add_row(config, method, *texts, _percent(macro(row)))
    if len({(cell.task, cell.n) for cell in found}) > len(tasks):
        result.caption = "n differs within a task: those scores are means over different instances"
    return result


def _cell(config: str, method: str, task: str, rows: Sequence[Row]) -> Cell:
    counted = [row for row in rows if row.status in COUNTED and row.scores]
    means = {
        metric: sum(row.scores[metric] for row in counted) / len(counted) if counted else None
        for metric in scorer_for(task).metrics
    }
    return Cell(config, method, task, len(counted), means, dict(sorted(Counter(row.status for row in rows).items())))


def _by_setting(found: Iterable[Cell]) -> dict[tuple[str, str], list[Cell]]:
    settings: dict[tuple[str, str], list[Cell]] = {}
    for cell in found:
        settings.setdefault((cell.config, cell.method), []).append(cell)
    return settings


def _text(cell: Cell) -> str:
    head, *others = cell.means.items()
    lines = [f"{_percent(head[1])} (n={cell.n})"]
    differing = [(name, value) for name, value in others if _percent(value) != _percent(head[1])]
    lines += [f"{name.removeprefix(head[0] + '_')} {_percent(value)}" for name, value in differing]
    lines += [f"{count} {status}" for status, count in cell.statuses.items() if status != "ok"]
    return "\n".join(lines)


def _percent(score: float | None) -> str:
    return "–" if score is None else f"{100 * score:.1f}"
