"""ROUGE-L (Lin 2004), the F-measure, best over the answers."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from builders.text import marked_words

METRICS = ("rouge_l", "rouge_l_strict")

_ACCENT = re.compile("[\u0300-\u036f]")


class UnicodeWords:
    """Words of any script, lower-case and without accents."""

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return _ACCENT.sub("", unicodedata.normalize("NFD", " ".join(marked_words(text)))).split()


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`rouge_l`, the rouge-score package without stemming as in the paper's code, and `rouge_l_strict`; 0 to 1.

    The package drops every letter outside a-z, so that `café` is `caf`; the strict one folds accents instead.
    """
    return {"rouge_l": _best(_official(), prediction, answers), "rouge_l_strict": _best(_strict(), prediction, answers)}


def _best(scorer: Any, prediction: str, answers: Sequence[str]) -> float:
    return max(float(scorer.score(answer, prediction)["rougeL"].fmeasure) for answer in answers)


@lru_cache(maxsize=1)
def _official() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=False)


@lru_cache(maxsize=1)
def _strict() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=UnicodeWords())
