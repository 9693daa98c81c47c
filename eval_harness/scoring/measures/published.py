"""The normal forms of published scorers, kept as they are so that numbers compare; ours is in builders.text."""

import re
import string
import unicodedata

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def loft_form(text: str) -> str:
    """SQuAD's normal form (Rajpurkar et al. 2016) after canonical decomposition, as LOFT computes it.

    KILT's is the same on text without accents.
    """
    return _squad_form(unicodedata.normalize("NFD", text).lower())


def icr2_form(text: str) -> str:
    """SQuAD's normal form with `'s`, hyphens and colons joined first, as ICR² and Adlakha et al. (2024) compute it."""
    lowered = text.lower()
    for spaced, joined in ((" 's", "'s"), (" - ", "-"), (" : ", ":")):
        lowered = lowered.replace(spaced, joined)
    return _squad_form(lowered)


def _squad_form(lowered: str) -> str:
    return " ".join(_ARTICLE.sub(" ", lowered.translate(_NO_PUNCTUATION)).split())
