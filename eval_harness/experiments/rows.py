"""Rows of an experiment's table: what each measures on a config, by task, with intervals."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from eval_harness.experiments.models import Tuned
from eval_harness.report.matched import Key, by_task
from eval_harness.report.statistics import Interval, intervals
from eval_harness.report.study import Study
from eval_harness.report.table import counted, headline_of
from eval_harness.run.results import Row, Status

Measure = Callable[[Row], float | None]


class Asked(NamedTuple):
    """A row of a table: its name, a model and a method.

    `run` is the name of its run, by default the model's, and `published` what a paper's table calls the row.
    """

    name: str
    model: Tuned
    method: str
    run: str = ""
    published: str = ""

    @property
    def says(self) -> str:
        """The name of the row in a paper's table."""
        return self.published or self.name


class Scored(NamedTuple):
    """A row's values by task and id, their intervals by task with the macro average, and the excluded results.

    `label` is its model's in the study.
    """

    asked: Asked
    label: str
    values: Mapping[Key, float]
    questions: Mapping[Key, str]
    intervals: Mapping[str, Interval | None]
    statuses: Mapping[str, Mapping[Status, int]]


def recall(row: Row) -> float | None:
    """A result's evidence recall; None without selected passages or without gold."""
    return row.scores.get("evidence_recall")


def scored(study: Study, config: str, lines: Sequence[Asked], measure: Measure = headline_of) -> list[Scored]:
    """The rows with results on a config, in order."""
    return [found for line in lines if (found := _scored(study, config, line, measure))]


def _scored(study: Study, config: str, asked: Asked, measure: Measure) -> Scored | None:
    run = asked.run or asked.model.name
    label = next((label for label, runs in study.runs.items() if run in runs), None)
    if label is None:
        return None
    rows = [row for row in study.rows[label] if row.config == config and row.method == asked.method]
    if not rows:
        return None
    values = {(row.task, row.id): value for row in counted(rows) if (value := measure(row)) is not None}
    questions = {(row.task, row.id): row.question_id for row in rows}
    tasks = sorted({row.task for row in rows})
    statuses = {task: Counter(row.status for row in rows if row.task == task) for task in tasks}
    found = intervals(by_task(values, questions, tasks), asked.name, config)
    return Scored(asked, label, values, questions, found, statuses)
