"""Rows of an experiment's table: means by task with intervals, and paired differences."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_harness.experiments.base import Found, Parts
from eval_harness.experiments.models import Tuned
from eval_harness.report.matched import Comparison, Key, by_task
from eval_harness.report.parts import Line, Section
from eval_harness.report.sections import comparisons
from eval_harness.report.statistics import MACRO, Interval, changes, intervals
from eval_harness.report.study import Study
from eval_harness.report.table import counted, headline_of, left_out, percent
from eval_harness.run.results import Row, Status

Measure = Callable[[Row], float | None]
Pairs = list[tuple["Scored", "Scored"]]


class Asked(NamedTuple):
    """A row of a table: its name, a model and a method; `run` is the name of its run, by default the model's."""

    name: str
    model: Tuned
    method: str
    run: str = ""


class Scored(NamedTuple):
    """A row's values by task and id, their intervals by task with the macro average, and the excluded results."""

    asked: Asked
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


def table(name: str, title: str, config: str, found: Sequence[Scored], what: str) -> Section:
    """A table of means by task; `what` names the measure."""
    tasks = _tasks(found)
    notes = [
        f"{what}, percent, with the 95 % bootstrap interval over questions and n. Unparsed and failed answers count "
        "as wrong and are in n; excluded results are listed. The macro average weights all tasks equally."
    ]
    rows = [[one.asked.name, *(_text(one, task) for task in tasks), _text(one, MACRO)] for one in found]
    header, short = ["", *tasks, MACRO], title.partition(":")[0]
    return Section(f"{name}-{config}", f"{title}, {config}", notes, header, rows, 1, short)


def differences(name: str, title: str, study: Study, config: str, pairs: Sequence[tuple[Scored, Scored]]) -> Section:
    """The second of each pair minus the first, over the instances counted in both."""
    compared = []
    for one, other in pairs:
        shared = one.values.keys() & other.values.keys()
        values = by_task({key: other.values[key] - one.values[key] for key in shared}, one.questions, study.tasks)
        names = (one.asked.name, other.asked.name)
        found = changes(values, name, config, *names)
        compared.append(Comparison(other.asked.model.name, config, *names, found))
    title = f"{title}: paired differences, {config}"
    return comparisons(compared, study, f"{name}-{config}-differences", title, "config")._replace(short="")


def report(
    found: Found,
    name: str,
    title: str,
    lines: Sequence[Asked],
    pairs: Callable[[list[Scored]], Pairs] = lambda rows: [],
    measure: Measure = headline_of,
    what: str | None = None,
) -> Parts:
    """A table of the rows for every config with results, differences of `pairs`, and a CSV file."""
    sections: list[Section] = []
    numbers: list[Line] = []
    for config in found.study.configs:
        mine = scored(found.study, config, lines, measure)
        sections.append(table(name, title, config, mine, what or headlines(found.study)))
        numbers += lines_of(config, mine)
        if compared := pairs(mine):
            sections.append(differences(name, title, found.study, config, compared))
    return Parts(sections, tables={f"{name}.csv": numbers})


def lines_of(config: str, found: Sequence[Scored]) -> Iterator[Line]:
    """The numbers of a table as lines of a CSV file."""
    for one in found:
        for task, interval in one.intervals.items():
            names = {"config": config, "row": one.asked.name, "method": one.asked.method, "task": task}
            counts = {f"n_{status.replace('/', '')}": n for status, n in one.statuses.get(task, {}).items()}
            mean, low, high, n = interval or (None,) * 4
            yield {**names, "n": n, "mean": mean, "low": low, "high": high, **counts}


def headlines(study: Study) -> str:
    """The headline metric of each task, in words."""
    by_metric: dict[str, list[str]] = {}
    for task in study.tasks:
        by_metric.setdefault(study.headlines[task], []).append(task)
    return "Headline scores (" + "; ".join(f"{metric}: {', '.join(of)}" for metric, of in by_metric.items()) + ")"


def _scored(study: Study, config: str, asked: Asked, measure: Measure) -> Scored | None:
    run = asked.run or asked.model.name
    label = next((label for label, runs in study.runs.items() if run in runs), None)
    rows = [row for row in study.rows.get(label or "", []) if row.config == config and row.method == asked.method]
    if not rows:
        return None
    values = {(row.task, row.id): value for row in counted(rows) if (value := measure(row)) is not None}
    questions = {(row.task, row.id): row.question_id for row in rows}
    tasks = sorted({row.task for row in rows})
    statuses = {task: Counter(row.status for row in rows if row.task == task) for task in tasks}
    found = intervals(by_task(values, questions, tasks), asked.name, config)
    return Scored(asked, values, questions, found, statuses)


def _tasks(found: Sequence[Scored]) -> list[str]:
    return sorted({task for one in found for task in one.statuses})


def _text(one: Scored, task: str) -> str:
    interval = one.intervals.get(task)
    aside = left_out(dict(sorted(one.statuses.get(task, {}).items())))
    if interval is None:
        return "\n".join(["–", *aside])
    bounds = f"[{percent(interval.low)}, {percent(interval.high)}]"
    return "\n".join([percent(interval.mean), bounds, f"n={interval.n}", *aside])
