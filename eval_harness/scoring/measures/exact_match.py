"""Exact match: is the prediction one of the answers?"""

from collections.abc import Sequence

from builders.text import normalise
from eval_harness.scoring.measures.published import loft_form

METRICS = ("em", "em_strict")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`em`, on SQuAD's normal form as in LOFT and KILT, and `em_strict`, on ours; 0 or 1."""
    return {
        "em": float(loft_form(prediction) in map(loft_form, answers)),
        "em_strict": float(normalise(prediction) in map(normalise, answers)),
    }
