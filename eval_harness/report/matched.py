"""Paired comparisons: two settings over the instances that count in both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from eval_harness.report.statistics import Change, changes
from eval_harness.report.study import Study
from eval_harness.report.table import counted, headline_of
from eval_harness.run.facts import ConfigFacts
from eval_harness.run.results import Row

Key = tuple[str, str]  # task and id


class Score(NamedTuple):
    """A score with the digest of its prompt and the id of its question."""

    value: float
    prompt: str
    question: str


Scores = dict[Key, Score]


class Comparison(NamedTuple):
    """`second` minus `first` for one model: of two configs under a method, or of two methods on a config.

    `changes` are by task, with the macro average last; None if no instance is matched.
    """

    model: str
    held: str
    first: str
    second: str
    changes: dict[str, Change | None]


class Setting(NamedTuple):
    """The model, config and method of a score."""

    model: str
    config: str
    method: str


def matched_rows(study: Study) -> dict[str, list[Row]]:
    """The results on instances that count under every model and method of their config, so that n is equal."""
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
    """Instances that cannot meet some condition (no gold, no context); excluded from every comparison."""
    return {(row.task, row.id) for row in rows if row.status == "n/a"}


def scores_by_setting(study: Study) -> dict[Setting, Scores]:
    """The scores to compare, by setting."""
    barred = unmet(study.all_rows)
    found: dict[Setting, Scores] = {}
    for label, rows in study.rows.items():
        for row in counted(rows):
            if (row.task, row.id) not in barred:
                scores = found.setdefault(Setting(label, row.config, row.method), {})
                prompt, question = row.prompt_sha256 or row.config, row.question_id
                scores[row.task, row.id] = Score(headline_of(row), prompt, question)
    return found


def between_configs(study: Study, scores: Mapping[Setting, Scores]) -> list[Comparison]:
    """Compares each config with the lowest ratio of its length, and with the shortest length of its ratio.

    Pairs of configs in which a method has the same prompts, such as closed_book, are left out.
    """
    facts = study.facts
    with_ratio = [(config, facts[config].ratio) for config in study.configs if facts[config].ratio is not None]
    with_length = [config for config in study.configs if facts[config].length]
    by_length = sorted(with_ratio, key=lambda one: (_tokens(facts[one[0]]), one[1]))
    by_ratio = sorted(with_length, key=lambda config: (*_line(facts[config]), _tokens(facts[config])))
    pairs = [
        *_against_first([config for config, _ in by_length], lambda config: facts[config].tokens),
        *_against_first(by_ratio, lambda config: _line(facts[config])),
    ]
    return [
        found
        for label in study.rows
        for method in study.methods
        for one, other in pairs
        if (found := _compared(scores, Setting(label, one, method), Setting(label, other, method)))
    ]


def between_methods(study: Study, scores: Mapping[Setting, Scores], baseline: str) -> list[Comparison]:
    """Compares each method with the baseline on every config."""
    return [
        found
        for label in study.rows
        for config in study.configs
        for method in study.methods
        if method != baseline
        and (found := _compared(scores, Setting(label, config, baseline), Setting(label, config, method)))
    ]


def baseline_of(study: Study, wanted: str) -> str:
    """The method to compare others with: the wanted one if it was run, otherwise the first."""
    return wanted if wanted in study.methods else study.methods[0]


def by_task(
    values: Mapping[Key, float], questions: Mapping[Key, str], tasks: Iterable[str]
) -> dict[str, list[list[float]]]:
    """The values of each question of each task, sorted by id, so that estimates do not depend on the order of rows."""
    found: dict[str, dict[str, list[float]]] = {task: {} for task in tasks}
    for (task, id), value in sorted(values.items()):
        found[task].setdefault(questions[task, id], []).append(value)
    return {task: [*questions.values()] for task, questions in found.items()}


def _compared(scores: Mapping[Setting, Scores], first: Setting, second: Setting) -> Comparison | None:
    one, other = scores.get(first, {}), scores.get(second, {})
    shared = one.keys() & other.keys()
    same_prompts = all(one[key].prompt == other[key].prompt for key in shared)
    if not shared or (first.config != second.config and same_prompts):
        return None
    tasks = sorted({task for task, _ in one.keys() | other.keys()})
    differences = {key: other[key].value - one[key].value for key in shared}
    found = changes(by_task(differences, {key: one[key].question for key in shared}, tasks), *first, *second)
    if first.config == second.config:
        return Comparison(first.model, first.config, first.method, second.method, found)
    return Comparison(first.model, first.method, first.config, second.config, found)


def _against_first(configs: Sequence[str], line: Callable[[str], object]) -> list[tuple[str, str]]:
    """Pairs of a line's first config with each other one."""
    pairs = []
    for _, group in groupby(configs, key=line):
        first, *others = group
        pairs += [(first, other) for other in others]
    return pairs


def _tokens(facts: ConfigFacts) -> int:
    return facts.tokens or 0


def _line(facts: ConfigFacts) -> tuple[bool, str, int]:
    """Family and ratio, which configs of one line over lengths share; those with a ratio first."""
    return facts.ratio is None, facts.family, -1 if facts.ratio is None else facts.ratio
