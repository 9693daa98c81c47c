"""Labels of a task in an output."""

import re
from collections.abc import Mapping
from functools import lru_cache


def label_in(text: str, labels: Mapping[str, str]) -> str | None:
    """The label that a text names first, by the source's name or by the word that the prompt asks for.

    Labels are compared whole, the longest first, so that `NOT_SUPPORTED` names no `SUPPORTED`. `not true` names the
    other of two labels; where there are more, it names none.
    """
    pattern, label_of = _read(tuple(labels.items()))
    for found in pattern.finditer(text):
        label = label_of.get(_key(found["label"] or found["denied"]))
        if found["label"]:
            return label
        if len(labels) == 2:
            return next(other for other in labels if other != label)
    return None


@lru_cache(maxsize=64)
def _read(labels: tuple[tuple[str, str], ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds labels, denied ones apart, and the label that each text stands for; asked words come before names."""
    label_of = {_key(label): label for label, _ in labels} | {_key(word): label for label, word in labels}
    texts = sorted({text for pair in labels for text in pair}, key=lambda text: (-len(text), text))
    one = "|".join(r"\s+".join(map(re.escape, text.split())) for text in texts)
    names = rf"(?<!\w)(?P<label>{one})(?!\w)"
    denied = rf"(?:\bnot|n['’]t)\s+(?P<denied>{one})(?!\w)"
    return re.compile(f"{names}|{denied}", re.IGNORECASE), label_of


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
