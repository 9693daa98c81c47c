"""Label accuracy for fact verification, on KILT's labels."""

from collections.abc import Sequence

from builders.prompts import FACT_LABELS


def usable(answers: Sequence[str]) -> list[str]:
    """The answers that are labels the prompt asks for, in KILT's spelling."""
    return [answer.strip().upper() for answer in answers if answer.strip().upper() in FACT_LABELS]


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`label_accuracy`: 1 where the predicted label is one of the answers."""
    return {"label_accuracy": float(prediction in answers)}
