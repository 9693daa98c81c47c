"""Recall EM: does any of the answers stand in the prediction, as the paper's code reads both?"""

from collections.abc import Sequence

from eval_harness.scoring.measures.published import icr2_form

METRICS = ("recall_em",)


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`recall_em` (Adlakha et al. 2024; the paper, section 5), 0 or 1: one answer is enough.

    It differs from LOFT's subspan EM in the normal form alone, so its strict twin is `subspan_em_strict`; for the
    share of all answers there is `coverage`.
    """
    squashed = icr2_form(prediction)
    return {"recall_em": float(any(icr2_form(answer) in squashed for answer in answers))}
