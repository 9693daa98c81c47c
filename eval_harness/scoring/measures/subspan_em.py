"""Subspan exact match: does an answer stand in the prediction?"""

from collections.abc import Sequence

from builders.text import contains
from eval_harness.scoring.measures.published import loft_form

METRICS = ("subspan_em", "subspan_em_strict")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`subspan_em`, the published measure (LOFT, Lee et al. 2024), and `subspan_em_strict`, on word borders; 0 or 1.

    The published one counts `no` in `know`, and an answer made of articles alone everywhere.
    """
    squashed = loft_form(prediction)
    return {
        "subspan_em": float(any(loft_form(answer) in squashed for answer in answers)),
        "subspan_em_strict": float(any(contains(answer, prediction) for answer in answers)),
    }
