"""Tasks whose answer is a set (LOFT's QUEST and QAMPARI): the prediction is a list."""

import json
import re
from ast import literal_eval
from collections.abc import Callable, Collection, Sequence

from builders.text import contains, marked
from eval_harness.scoring.measures import coverage
from eval_harness.scoring.measures.published import loft_form

METRICS = ("subspan_em", "subspan_em_strict", "em", "em_strict", *coverage.METRICS, "answer_f1")

_BULLET = re.compile(r"^\s*(?:[-*•]|[0-9]+[.)])\s+")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`score_list` of the answers that a prediction lists."""
    return score_list(listed(prediction), answers)


def score_list(predictions: Sequence[str], answers: Sequence[str]) -> dict[str, float]:
    """LOFT's measures for several answers with strict twins, and `answer_f1`; 0 to 1.

    `em`: both are the same set. `subspan_em`: each answer can be paired with a prediction of its own that contains it;
    the published one also accepts a prediction, even an empty one, that the answer contains. `answer_f1`, ours: the
    harmonic mean of the shares of predictions and of answers that equal one of the others (LOFT names one but
    computes none).
    """
    if not predictions:
        return dict.fromkeys(METRICS, 0.0)
    published = list(map(loft_form, predictions)), list(map(loft_form, answers))
    distinct = {form: text for text in predictions if (form := marked(text))}
    wanted = {marked(answer): answer for answer in answers}
    equal = len(distinct.keys() & wanted.keys())
    return {
        "subspan_em": float(_each_has_its_own(*published, lambda one, other: other in one or one in other)),
        "subspan_em_strict": float(
            _each_has_its_own(distinct.values(), wanted.values(), lambda one, other: contains(other, one))
        ),
        "em": float(set(published[0]) == set(published[1])),
        "em_strict": float(distinct.keys() == wanted.keys()),
        **coverage.score_list(predictions, answers),
        "answer_f1": 2 * equal / (len(distinct) + len(wanted)),
    }


def listed(prediction: str) -> list[str]:
    """The items of a text: those of a bracketed list as JSON or Python write it, else its lines without bullets."""
    text = prediction.strip()
    if text.startswith("[") and text.endswith("]"):
        for read in (json.loads, literal_eval):
            try:
                return [str(item) for item in read(text)]
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
    return [item for line in text.splitlines() if (item := _BULLET.sub("", line).strip())]


def _each_has_its_own(predictions: Collection[str], answers: Collection[str], fits: Callable[[str, str], bool]) -> bool:
    """Whether the answers can be paired with as many predictions that fit them."""
    from scipy.optimize import linear_sum_assignment

    if len(predictions) < len(answers):
        return False
    fitting = [[fits(prediction, answer) for prediction in predictions] for answer in answers]
    rows, columns = linear_sum_assignment(fitting, maximize=True)
    return all(fitting[row][column] for row, column in zip(rows, columns, strict=True))
