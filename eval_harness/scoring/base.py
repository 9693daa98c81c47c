"""What a scorer is: measures of an answer by name, and which of them compare with other tasks'."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Score = Callable[[str, Sequence[str]], dict[str, float]]

COUNTS = frozenset(("n_pred_tokens",))  # metrics that count something; all others are shares, 0 to 1


class Fields(NamedTuple):
    """The metrics that are a scorer's F1 and exact match.

    Where a scorer has no F1 or no exact match, its headline and the strict twin stand for it.
    """

    f1: str
    f1_strict: str
    em: str
    em_strict: str


class Scorer(NamedTuple):
    """Measures of an answer by name, the headline first and its strict twin second.

    `graded`: answers are better or worse, and none is simply right.
    """

    says: str
    metrics: tuple[str, ...]
    score: Score
    fields: Fields
    graded: bool = False

    @property
    def headline(self) -> str:
        """The metric that stands for the task."""
        return self.metrics[0]

    @property
    def strict(self) -> str:
        """The headline's twin on word borders."""
        return self.metrics[1]


def together(*scores: Score) -> Score:
    """All the measures of several."""

    def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
        return {name: value for one in scores for name, value in one(prediction, answers).items()}

    return score
