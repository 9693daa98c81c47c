"""Subspan exact match: does an answer stand in the prediction?"""

import re
import string
import unicodedata
from collections.abc import Sequence

from builders.text import contains, normalise

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def usable(answers: Sequence[str]) -> list[str]:
    """The answers that something can be matched against: KILT's `<unk>` and answers without a word are none."""
    return [answer for answer in answers if answer.strip() != "<unk>" and normalise(answer)]


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`subspan_em`, the published measure (LOFT, Lee et al. 2024), and `subspan_em_strict`, on word borders; 0 or 1.

    The published one counts `no` in `know`, and an answer made of articles alone everywhere.
    """
    squashed = official_form(prediction)
    return {
        "subspan_em": float(any(official_form(answer) in squashed for answer in answers)),
        "subspan_em_strict": float(any(contains(answer, prediction) for answer in answers)),
    }


def official_form(text: str) -> str:
    """SQuAD's normal form (Rajpurkar et al. 2016) after canonical decomposition, as LOFT computes it."""
    lowered = unicodedata.normalize("NFD", text).lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", lowered).split())
