"""Scores of every setting with intervals, and their change with length."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

from eval_harness.report.matched import Key, Scores, Setting, by_task
from eval_harness.report.statistics import Change, Interval, changes, intervals
from eval_harness.report.study import Study
from eval_harness.report.table import Cell, cells, counted, headline_of, listed
from eval_harness.run.facts import Configs
from eval_harness.run.results import Row

HELD = 0.85  # the share of the score at the shortest length that an effective length keeps


class Standing(NamedTuple):
    """A setting's cells by task, with intervals of each task's headline and of the macro average."""

    setting: Setting
    condition: str
    cells: dict[str, Cell]
    intervals: dict[str, Interval | None]


class Fall(NamedTuple):
    """The change of a score with length, for a model, a method and the configs of one line (family and ratio).

    `slopes` is the change of the score (as a share) per doubling of the length, by task and for the macro average;
    `effective` is the longest length up to which the macro average keeps 85 % of that at the shortest.
    """

    model: str
    method: str
    configs: tuple[str, ...]
    slopes: dict[str, Change | None]
    effective: str

    @property
    def line(self) -> str:
        """The configs as a short text."""
        return listed(self.configs)


def standings(rows_by_label: Mapping[str, Sequence[Row]], study: Study) -> list[Standing]:
    """The standings of some rows of a study, by method, then config, then model."""
    groups: dict[Setting, list[Row]] = {}
    for label, rows in rows_by_label.items():
        for row in rows:
            groups.setdefault(Setting(label, row.config, row.method), []).append(row)
    order = [
        Setting(label, config, method) for method in study.methods for config in study.configs for label in study.rows
    ]
    return [_standing(setting, groups[setting]) for setting in order if setting in groups]


def _standing(setting: Setting, rows: Sequence[Row]) -> Standing:
    found = {cell.task: cell for cell in cells(rows)}
    mine = {(row.task, row.id): row for row in counted(rows)}
    questions = {key: row.question_id for key, row in mine.items()}
    scores = by_task({key: headline_of(row) for key, row in mine.items()}, questions, found)
    return Standing(setting, rows[0].condition, found, intervals(scores, *setting))


def falls(study: Study, scores: Mapping[Setting, Scores]) -> list[Fall]:
    """The change of scores with length, for each model and method with results on at least two lengths.

    Methods with the same prompts at all lengths are left out.
    """
    lines: dict[tuple[str, int | None], list[str]] = {}
    for config in study.configs:
        if study.facts[config].length:
            lines.setdefault(study.facts[config].line, []).append(config)
    found = []
    for label in study.rows:
        for method in study.methods:
            for configs in lines.values():
                of_line = {config: mine for config in configs if (mine := scores.get(Setting(label, config, method)))}
                if fall := _fall(label, method, of_line, study.facts):
                    found.append(fall)
    return found


def _fall(label: str, method: str, by_config: Mapping[str, Scores], facts: Configs) -> Fall | None:
    if len(by_config) < 2:
        return None
    shared = set.intersection(*(set(scores) for scores in by_config.values()))
    prompts = {key: {scores[key].prompt for scores in by_config.values()} for key in shared}
    if all(len(found) == 1 for found in prompts.values()):
        return None
    tasks = sorted({task for scores in by_config.values() for task, _ in scores})
    matched = {config: {key: scores[key].value for key in shared} for config, scores in by_config.items()}
    questions = {key: one.question for key, one in next(iter(by_config.values())).items()}
    slopes = changes(by_task(slopes_of(matched, facts), questions, tasks), "slope", label, method, *by_config)
    means = {config: _macro_mean(values) for config, values in matched.items()}
    return Fall(label, method, tuple(by_config), slopes, effective_length(means, facts))


def slopes_of(by_config: Mapping[str, Mapping[Key, float]], facts: Configs) -> dict[Key, float]:
    """Each instance's least-squares slope over log2 of the length; their mean is the slope of the mean score."""
    doublings = {config: log2(facts[config].tokens or 1) for config in by_config}
    middle = sum(doublings.values()) / len(doublings)
    spread = sum((at - middle) ** 2 for at in doublings.values())
    keys = next(iter(by_config.values()))
    return {
        key: sum((doublings[config] - middle) * values[key] for config, values in by_config.items()) / spread
        for key in keys
    }


def effective_length(means: Mapping[str, float], facts: Configs) -> str:
    """The longest length up to which every score is at least 85 % of that at the shortest (NoLiMa's rule)."""
    ordered = sorted(means, key=lambda config: facts[config].tokens or 0)
    base = means[ordered[0]]
    if base <= 0:
        return "–"
    reached = ordered[0]
    for config in ordered[1:]:
        if means[config] < HELD * base:
            return facts[reached].length or reached
        reached = config
    return f"{facts[reached].length} or more"


def _macro_mean(values: Mapping[Key, float]) -> float:
    tasks: dict[str, list[float]] = {}
    for (task, _), value in values.items():
        tasks.setdefault(task, []).append(value)
    return sum(sum(scores) / len(scores) for scores in tasks.values()) / len(tasks)
