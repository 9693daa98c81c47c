"""Label accuracy for fact verification, on KILT's labels."""

from collections.abc import Sequence

from builders.format1 import FACT_LABELS

METRICS = ("label_accuracy", "label_accuracy_kilt")


def usable(answers: Sequence[str]) -> list[str]:
    """The answers that are labels the prompt asks for, in KILT's spelling."""
    return [answer.strip().upper() for answer in answers if answer.strip().upper() in FACT_LABELS]


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`label_accuracy`: 1 where the predicted label is one of the answers; `label_accuracy_kilt`: letter for letter.

    KILT's code counts `supports` as wrong. Labels read from an output are in KILT's spelling, so that both agree.
    """
    return {
        "label_accuracy": float(prediction.strip().upper() in answers),
        "label_accuracy_kilt": float(prediction in answers),
    }
