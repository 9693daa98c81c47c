"""Exact match: is the prediction one of the answers?"""

from collections.abc import Sequence

from builders.text import marked
from eval_harness.scoring.measures.published import loft_form

METRICS = ("em", "em_strict")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`em`, on SQuAD's normal form as in LOFT and KILT, and `em_strict`, on ours; 0 or 1.

    Ours compares numbers by value and keeps signs and marks: `29.00` is `29`, `-5` is not `5`, `C++` is not `C`.
    """
    return {
        "em": float(loft_form(prediction) in map(loft_form, answers)),
        "em_strict": float(marked(prediction) in map(marked, answers)),
    }
