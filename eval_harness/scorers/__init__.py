"""Which scorer a task gets."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from eval_harness.scorers import label, rouge_l, subspan_em


class Scorer(NamedTuple):
    """Measures by name, the headline first; `usable` picks the answers to score against, none meaning unscorable."""

    metrics: tuple[str, ...]
    usable: Callable[[Sequence[str]], list[str]]
    score: Callable[[str, Sequence[str]], dict[str, float]]


SUBSPAN_EM = Scorer(("subspan_em", "subspan_em_strict"), subspan_em.usable, subspan_em.score)
LABEL_ACCURACY = Scorer(("label_accuracy",), label.usable, label.score)
ROUGE_L = Scorer(("rouge_l", "rouge_l_strict"), rouge_l.usable, rouge_l.score)

SCORERS: dict[str, Scorer] = {"fever": LABEL_ACCURACY, "wow": ROUGE_L}  # every other task is a question


def scorer_for(task: str) -> Scorer:
    """The scorer of a task."""
    return SCORERS.get(task, SUBSPAN_EM)
