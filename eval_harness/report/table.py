"""Scores by config, method and task, each with its denominator and its counts of excluded and failed answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from builders.errors import SetupError
from eval_harness.run.results import Row
from eval_harness.scoring.base import COUNTS
from eval_harness.scoring.evidence import METRICS as EVIDENCE
from eval_harness.scoring.registry import scorer_of

COUNTED = ("ok", "unparsed", "error")  # the denominator; the last two count as wrong


class Evidence(NamedTuple):
    """Means of the evidence scores over the `n` counted results that have them: those with gold passages."""

    n: int
    means: dict[str, float]


class Cell(NamedTuple):
    """One task under one config and method: means over `n` results, None if n is 0, and the count of each status.

    The first metric is the headline. `evidence` is None if the method cites no passages.
    """

    config: str
    method: str
    task: str
    n: int
    means: dict[str, float | None]
    statuses: dict[str, int]
    evidence: Evidence | None = None

    @property
    def headline(self) -> float | None:
        """The mean of the task's headline metric."""
        return next(iter(self.means.values()))


def cells(rows: Iterable[Row]) -> list[Cell]:
    """The cells of the results, by config and method in order of appearance, then by task."""
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        groups.setdefault((row.config, row.method), {}).setdefault(row.task, []).append(row)
    return [_cell(*key, task, tasks[task]) for key, tasks in groups.items() for task in sorted(tasks)]


def counted(rows: Iterable[Row]) -> list[Row]:
    """The results in the denominator: answered, unparsed and failed ones that have a reference answer."""
    return [row for row in rows if row.status in COUNTED and row.scores]


def headline_of(row: Row) -> float:
    """A counted result's score by its task's headline metric; SetupError if another version scored it."""
    return _score(row, headline_name(row))


def headline_name(row: Row) -> str:
    """The metric that stands for a result's task."""
    return row.headline or scorer_of(row.spec).headline


def macro(tasks: Sequence[Cell]) -> float | None:
    """The unweighted mean over tasks of their headline scores; None unless every task has one."""
    scores = [score for cell in tasks if (score := cell.headline) is not None]
    return sum(scores) / len(scores) if scores and len(scores) == len(tasks) else None


def summary(found: Sequence[Cell]) -> dict[str, Any]:
    """The cells and macro averages as plain values, for summary.json."""
    return {
        "cells": [_plain(cell) for cell in found],
        "macro_over_tasks": [
            {"config": config, "method": method, "n_tasks": len(tasks), "score": macro(tasks)}
            for (config, method), tasks in by_setting(found).items()
        ],
    }


def table(found: Sequence[Cell], title: str) -> Table:
    """A table with a line per config and method and a column per task: scores in percent, n, and other statuses.

    The strict variant is printed if it differs, and the official one where the strict one is the headline.
    """
    headlines = {cell.task: next(iter(cell.means)) for cell in found}
    tasks = sorted(headlines)
    result = Table(title=Text(title))
    for name in ("config", "method"):
        result.add_column(name, no_wrap=True)
    for task in tasks:
        result.add_column(f"{task}\n{headlines[task]}", justify="right", overflow="fold")
    result.add_column("macro average\nover tasks", justify="right")
    for (config, method), row in by_setting(found).items():
        by_task = {cell.task: cell for cell in row}
        texts = [_text(by_task[task]) if task in by_task else "–" for task in tasks]
        result.add_row(config, method, *texts, percent(macro(row)))
    if len({(cell.task, cell.n) for cell in found}) > len(tasks):
        result.caption = "n differs within a task, so its scores are means over different instances"
    return result


def listed(configs: Sequence[str]) -> str:
    """Configs, in their order, as a short text."""
    many = f"{configs[0]} … {configs[-1]} ({len(configs)} configs)"
    return ", ".join(configs) if len(configs) <= 3 else many


def by_setting(found: Iterable[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """The cells of each config and method."""
    settings: dict[tuple[str, str], list[Cell]] = {}
    for cell in found:
        settings.setdefault((cell.config, cell.method), []).append(cell)
    return settings


def percent(score: float | None) -> str:
    """A share in percent with one decimal; a dash for None."""
    return "–" if score is None else f"{100 * score:.1f}"


def figure(metric: str, mean: float | None) -> str:
    """A mean as printed: counts as they are, every other measure in percent."""
    return f"{mean:.1f}" if metric in COUNTS and mean is not None else percent(mean)


def left_out(statuses: Mapping[str, int]) -> list[str]:
    """Each status other than ok, with its count."""
    return [f"{count} {status}" for status, count in statuses.items() if status != "ok"]


def _cell(config: str, method: str, task: str, rows: Sequence[Row]) -> Cell:
    mine = counted(rows)
    metrics = dict.fromkeys((headline_name(rows[0]), *scorer_of(rows[0].spec).metrics))
    means = {name: sum(_score(row, name) for row in mine) / len(mine) if mine else None for name in metrics}
    statuses: dict[str, int] = dict(sorted(Counter(row.status for row in rows).items()))
    return Cell(config, method, task, len(mine), means, statuses, _evidence(mine))


def _score(row: Row, metric: str) -> float:
    if metric not in row.scores:
        raise SetupError(
            f"{row.id} ({row.config}, {row.method}) has no {metric}: it was scored by another version; rerun it"
        )
    return row.scores[metric]


def _evidence(mine: Sequence[Row]) -> Evidence | None:
    scored = [row.scores for row in mine if EVIDENCE[0] in row.scores]
    if not scored:
        return None
    return Evidence(len(scored), {name: sum(scores[name] for scores in scored) / len(scored) for name in EVIDENCE})


def _plain(cell: Cell) -> dict[str, Any]:
    evidence = {"evidence": cell.evidence._asdict()} if cell.evidence else {}
    named = {key: value for key, value in cell._asdict().items() if key != "evidence"}
    return {**named, "headline": next(iter(cell.means)), **evidence}


def _text(cell: Cell) -> str:
    head, *others = cell.means.items()
    lines = [f"{percent(head[1])} (n={cell.n})"]
    twin = [(name, value) for name, value in others if name == f"{head[0]}_strict"]
    lines += [f"strict {percent(value)}" for _, value in twin if percent(value) != percent(head[1])]
    lines += [f"official {percent(value)}" for name, value in others if f"{name}_strict" == head[0]]
    return "\n".join([*lines, *left_out(cell.statuses)])
