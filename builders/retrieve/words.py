"""Words of texts and queries in any script, and those that say what a query is about."""

import re
import unicodedata
from functools import cache
from itertools import chain

from builders.text import composed, fold

# English words that are in most texts, whatever these are about.
_STOP_WORDS = """
a about above after again against ain all am an and any are aren as at be because been before being below between
both but by can could couldn d did didn do does doesn doing don down during each few for from further had hadn has
hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m
mightn more most mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over own
re s same shan she should shouldn so some such t than that the their theirs them themselves then there these they
this those through to too under until up ve very was wasn we were weren what when where which while who whom why
will with won would wouldn y you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


_ASCII_WORD = re.compile(r"\w+")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # as in `builders.text`
_JOINERS = "\u200c\u200d"  # occur inside words of Persian and of Indian languages


def words_of(text: str) -> list[str]:
    """The lower-case words of a text in NFC; `_` belongs to words.

    A word keeps its combining marks, whatever its script. Of a script written without spaces (Han, kana) each character
    is a word.
    """
    lower = composed(text.lower())
    return (_ASCII_WORD if lower.isascii() else _word()).findall(lower)


@cache
def _word() -> re.Pattern[str]:
    return re.compile(word_pattern())


@cache
def word_pattern() -> str:
    """A regular expression for one word, without groups, as `words_of` cuts them."""
    # Python's \w knows no combining marks (categories Mn, Mc and Me); beyond plane 1 there are variation selectors.
    codes = chain(range(0x300, 0x20000), range(0xE0100, 0xE01F0))
    marks = "".join(_ranges([code for code in codes if unicodedata.category(chr(code))[0] == "M"])) + _JOINERS
    letters = rf"[^\W{_UNSPACED}]"
    return rf"[{_UNSPACED}][{marks}]*|{letters}+(?:[{marks}]+{letters}*)*"


def _ranges(codes: list[int]) -> list[str]:
    starts = [code for before, code in zip([-1, *codes], codes, strict=False) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], -1], strict=True) if after != code + 1]
    return [f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True)]


def has_content(text: str) -> bool:
    """Whether a text has a word that is not a stop word; without one, no retriever has anything to look for."""
    return any(word not in STOP_WORDS for word in fold(text).split())
