"""Needles in a haystack: is what was hidden in the response?"""

from collections.abc import Sequence

from builders.text import contains
from eval_harness.scoring.measures import coverage

METRICS = ("needle_any", "needle_any_strict")
METRICS_ALL = ("needle_all", "needle_all_strict")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """One of the answers is enough: `needle_any`, NoLiMa's letter-for-letter containment, and on word borders; 0 or 1.

    An answer is the part of a needle that the question asks for, not the whole sentence.
    """
    return {
        "needle_any": float(any(answer in prediction for answer in answers)),
        "needle_any_strict": float(any(contains(answer, prediction) for answer in answers)),
    }


def score_all(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """Every answer counts: `needle_all`, RULER's mean of lower-cased containment, and on word borders; 0 to 1."""
    lowered = prediction.lower()
    return {
        "needle_all": sum(answer.lower() in lowered for answer in answers) / len(answers),
        "needle_all_strict": coverage.score(prediction, answers)["coverage_strict"],
    }
