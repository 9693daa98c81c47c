"""Paired comparisons: two settings over the instances that both could answer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from builders.synthetic.base import question_of
from eval_harness.report.names import parts_of
from eval_harness.report.statistics import Change, changes
from eval_harness.report.study import Study
from eval_harness.report.table import counted, headline_of
from eval_harness.run.results import Row

Key = tuple[str, str]  # task and id
Scores = dict[Key, tuple[float, str]]  # a score, and the digest of the prompt that got it


class Comparison(NamedTuple):
    """`second` minus `first` for one model: of two configs under a method, or of two methods on a config.

    `changes` are by task, with the macro average last; None where no instance is matched.
    """

    model: str
    held: str
    first: str
    second: str
    changes: dict[str, Change | None]


class Setting(NamedTuple):
    """Where a score stands."""

    model: str
    config: str
    method: str


def matched_rows(study: Study) -> dict[str, list[Row]]:
    """The rows on instances that count under every model and method of their config, so that n is equal in it."""
    barred = unmet(study.all_rows)
    counts: dict[str, dict[Setting, set[Key]]] = {}
    for label, rows in study.rows.items():
        for row in rows:
            counts.setdefault(row.config, {}).setdefault(Setting(label, row.config, row.method), set())
        for row in counted(rows):
            counts[row.config][Setting(label, row.config, row.method)].add((row.task, row.id))
    shared = {config: set.intersection(*by.values()) - barred for config, by in counts.items()}
    return {
        label: [row for row in rows if (row.task, row.id) in shared[row.config]] for label, rows in study.rows.items()
    }


def unmet(rows: Iterable[Row]) -> set[Key]:
    """Instances that somewhere cannot meet a condition (no gold, no context); no comparison takes them."""
    return {(row.task, row.id) for row in rows if row.status == "n/a"}


def scores_by_setting(study: Study) -> dict[Setting, Scores]:
    """The scores that comparisons draw on, by setting."""
    barred = unmet(study.all_rows)
    found: dict[Setting, Scores] = {}
    for label, rows in study.rows.items():
        for row in counted(rows):
            if (row.task, row.id) not in barred:
                scores = found.setdefault(Setting(label, row.config, row.method), {})
                scores[row.task, row.id] = (headline_of(row), row.prompt_sha256 or row.config)
    return found


def between_configs(study: Study, scores: Mapping[Setting, Scores]) -> list[Comparison]:
    """Each config against the lowest ratio of its length, and against the shortest length of its ratio.

    Left out where both configs gave a method the same prompts, as closed-book ones do.
    """
    parts = {config: parts_of(config) for config in study.configs}
    by_length = sorted(
        (c for c in parts if parts[c].ratio is not None), key=lambda c: (parts[c].tokens, parts[c].ratio)
    )
    by_ratio = sorted((c for c in parts if parts[c].length), key=lambda c: (*_line(c), parts[c].tokens))
    pairs = [*_against_first(by_length, lambda c: str(parts[c].tokens)), *_against_first(by_ratio, _line)]
    return [
        found
        for label in study.rows
        for method in study.methods
        for one, other in pairs
        if (found := _compared(scores, Setting(label, one, method), Setting(label, other, method)))
    ]


def between_methods(study: Study, scores: Mapping[Setting, Scores], baseline: str) -> list[Comparison]:
    """Each method against the baseline on every config."""
    return [
        found
        for label in study.rows
        for config in study.configs
        for method in study.methods
        if method != baseline
        and (found := _compared(scores, Setting(label, config, baseline), Setting(label, config, method)))
    ]


def baseline_of(study: Study, wanted: str) -> str:
    """The method that others are compared with: the wanted one if it was run, else the first."""
    return wanted if wanted in study.methods else study.methods[0]


def by_task(values: Mapping[Key, float], tasks: Iterable[str]) -> dict[str, list[list[float]]]:
    """The values of each question of each task, in the order of ids, so that no estimate depends on that of rows."""
    found: dict[str, dict[str, list[float]]] = {task: {} for task in tasks}
    for (task, id), value in sorted(values.items()):
        found[task].setdefault(question_of(id), []).append(value)
    return {task: [*questions.values()] for task, questions in found.items()}


def _compared(scores: Mapping[Setting, Scores], first: Setting, second: Setting) -> Comparison | None:
    one, other = scores.get(first, {}), scores.get(second, {})
    shared = one.keys() & other.keys()
    same_prompts = all(one[key][1] == other[key][1] for key in shared)
    if not shared or (first.config != second.config and same_prompts):
        return None
    tasks = sorted({task for task, _ in one.keys() | other.keys()})
    found = changes(by_task({key: other[key][0] - one[key][0] for key in shared}, tasks), *first, *second)
    if first.config == second.config:
        return Comparison(first.model, first.config, first.method, second.method, found)
    return Comparison(first.model, first.method, first.config, second.config, found)


def _against_first(configs: Sequence[str], line: Callable[[str], object]) -> list[tuple[str, str]]:
    """Pairs of a line's first config and each other one."""
    pairs = []
    for _, group in groupby(configs, key=line):
        first, *others = group
        pairs += [(first, other) for other in others]
    return pairs


def _line(config: str) -> tuple[str, int]:
    """What configs of several lengths have in common: family and ratio."""
    family, _, _, ratio = parts_of(config)
    return family, -1 if ratio is None else ratio
