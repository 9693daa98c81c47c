"""Which scorer a task gets."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from builders.tasks import TaskSpec
from eval_harness.scoring import (
    coverage,
    exact_match,
    kilt_rouge_l,
    label,
    multi_answer,
    needle,
    recall_em,
    rouge_l,
    subspan_em,
    token_f1,
)

VERSION = "3"  # changes with every change that can move a score or adds one

Score = Callable[[str, Sequence[str]], dict[str, float]]

COUNTS = frozenset(("n_pred_tokens",))  # metrics that count something; all others are shares, 0 to 1


class Scorer(NamedTuple):
    """Measures by name, the headline first and its twin second; `usable` picks the answers to score against.

    Where it picks none, the row is unscorable.
    """

    metrics: tuple[str, ...]
    usable: Callable[[Sequence[str]], list[str]]
    score: Score


def _together(*scores: Score) -> Score:
    def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
        return {name: value for one in scores for name, value in one(prediction, answers).items()}

    return score


QA = Scorer(
    subspan_em.METRICS + exact_match.METRICS + token_f1.METRICS + recall_em.METRICS + coverage.METRICS,
    subspan_em.usable,
    _together(subspan_em.score, exact_match.score, token_f1.score, recall_em.score, coverage.score),
)
LABEL_ACCURACY = Scorer(label.METRICS, label.usable, label.score)
DIALOGUE = Scorer(
    rouge_l.METRICS + kilt_rouge_l.METRICS + token_f1.METRICS,
    rouge_l.usable,
    _together(rouge_l.score, kilt_rouge_l.score, token_f1.score),
)
MULTI_ANSWER = Scorer(multi_answer.METRICS, subspan_em.usable, multi_answer.score)
NEEDLE = Scorer(needle.METRICS, subspan_em.usable, needle.score)
ALL_NEEDLES = Scorer(needle.METRICS_ALL, subspan_em.usable, needle.score_all)

# Whether one answer is enough or all are wanted is said here, per task, never guessed from how many there are.
SCORERS: dict[str, Scorer] = {  # every other task is a question, for which one is enough
    "fever": LABEL_ACCURACY,
    "wow": DIALOGUE,
    "quest": MULTI_ANSWER,
    "qampari": MULTI_ANSWER,
    "needle": NEEDLE,
    "needles": ALL_NEEDLES,
}


BY_NAME: dict[str, Scorer] = {
    "qa": QA,
    "label": LABEL_ACCURACY,
    "dialogue": DIALOGUE,
    "set": MULTI_ANSWER,
    "needle": NEEDLE,
    "all_needles": ALL_NEEDLES,
}


def scorer_of(task: TaskSpec) -> Scorer:
    """The scorer of a task, as its dataset names it."""
    return BY_NAME[task.scored_by]


def scorer_for(task: str) -> Scorer:
    """The scorer of a task."""
    return SCORERS.get(task, QA)
