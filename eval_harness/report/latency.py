"""Latency of answers, in total and by step (paper, table 7)."""

from collections.abc import Mapping, Sequence

from eval_harness.report.matched import Key, Setting, by_task
from eval_harness.report.parts import Line, Section
from eval_harness.report.statistics import MACRO, Interval, intervals
from eval_harness.report.study import Study
from eval_harness.run.results import Row

_NOTES = [
    "Mean seconds per answer; in a batch, its time divided by its size. Tokens read are the tokens of the answered "
    "prompt, without those reused from an earlier answer or a probe (shared). If methods share a context, the first of "
    "them reads it for all: `--no-prefix-reuse --warm-up` times a method alone.",
]


def latency(study: Study) -> Section:
    """Seconds, steps and tokens by method, config and model."""
    found: dict[Setting, list[Row]] = {}
    for label, rows in study.rows.items():
        for row in rows:
            if row.latency_s is not None:
                found.setdefault(Setting(label, row.config, row.method), []).append(row)
    steps = list(dict.fromkeys(step for rows in found.values() for row in rows for step in row.steps_s or ()))
    lines = [
        [
            *(one.method, one.config, one.model, str(len(rows))),
            f"{_mean([row.latency_s or 0 for row in rows]):.2f}",
            *(_step(rows, step) for step in steps),
            f"{_mean([(row.n_prompt_tokens or 0) - (row.n_cached_tokens or 0) for row in rows]):,.0f}",
            f"{_mean([row.n_cached_tokens or 0 for row in rows]):,.0f}",
            f"{_mean([row.n_new_tokens or 0 for row in rows]):,.0f}",
        ]
        for one, rows in found.items()
    ]
    header = ["method", "config", "model", "n", "seconds", *steps, "tokens read", "shared", "tokens written"]
    return Section("latency", "Table 7: seconds per answer", _NOTES, header, lines, 3, "Latency", folded=True)


def seconds_by_task(study: Study, name: str, title: str, notes: Sequence[str]) -> tuple[Section, list[Line]]:
    """The mean seconds of each task and method with their interval, and the paired difference from the first method."""
    found = {method: _seconds(study, method) for method in study.methods}
    first, *others = found
    pairs = {f"{other} − {first}": _difference(found[first], found[other]) for other in others}
    questions = {(row.task, row.id): row.question_id for row in study.all_rows}
    shown = {
        column: intervals(by_task(values, questions, study.tasks), name, column)
        for column, values in {**found, **pairs}.items()
    }
    lines: list[Line] = [
        {"task": task, "column": column, "n": of.n, "mean": of.mean, "low": of.low, "high": of.high}
        for column, by_name in shown.items()
        for task, of in by_name.items()
        if of
    ]
    rows = [[task, *(_shown(by_name[task]) for by_name in shown.values())] for task in (*study.tasks, MACRO)]
    return Section(name, title, list(notes), ["task", *shown], rows, 1, title.partition(":")[0]), lines


def _seconds(study: Study, method: str) -> dict[Key, float]:
    return {(row.task, row.id): row.latency_s for row in study.all_rows if row.method == method and row.latency_s}


def _difference(one: Mapping[Key, float], other: Mapping[Key, float]) -> dict[Key, float]:
    return {key: other[key] - one[key] for key in one.keys() & other.keys()}


def _shown(found: Interval | None) -> str:
    return f"{found.mean:.2f}\n[{found.low:.2f}, {found.high:.2f}]\nn={found.n}" if found else "–"


def _step(rows: Sequence[Row], step: str) -> str:
    seconds = [row.steps_s[step] for row in rows if row.steps_s and step in row.steps_s]
    return f"{_mean(seconds):.2f}" if seconds else "–"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
