"""A claim, judged by one of the labels of its task."""

from collections.abc import Sequence

from eval_harness.scoring.base import Fields, Scorer

METRICS = ("label_accuracy", "label_accuracy_kilt")


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`label_accuracy`: 1 where the predicted label is one of the answers; `label_accuracy_kilt`: letter for letter.

    KILT's code counts `supports` as wrong. Labels read from an output are in the task's spelling, so that both agree.
    """
    return {
        "label_accuracy": float(prediction.strip().casefold() in map(str.casefold, answers)),
        "label_accuracy_kilt": float(prediction in answers),
    }


LABEL_ACCURACY = Scorer(
    "a claim, judged by one of the labels of its task: accuracy",
    METRICS,
    score,
    Fields(*["label_accuracy"] * 4),
)
