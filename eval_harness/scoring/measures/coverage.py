"""Coverage: the share of distinct answers that are found, where an item has several right ones."""

from collections.abc import Sequence

from builders.text import contains, marked
from eval_harness.scoring.measures.published import loft_form

METRICS = ("coverage", "coverage_strict")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`score_list` of a single prediction."""
    return score_list([prediction], answers)


def score_list(predictions: Sequence[str], answers: Sequence[str]) -> dict[str, float]:
    """`coverage`, as LOFT computes it, and `coverage_strict`; 0 to 1, and an additional answer may lower it.

    LOFT's: answers equal to a prediction / all answers, repeats included. Ours: distinct answers that occur in a
    prediction on word borders / distinct answers.
    """
    published = list(map(loft_form, answers))
    distinct = {marked(answer): answer for answer in answers}
    found = [answer for answer in distinct.values() if any(contains(answer, prediction) for prediction in predictions)]
    return {
        "coverage": len(set(published) & set(map(loft_form, predictions))) / len(published),
        "coverage_strict": len(found) / len(distinct),
    }
