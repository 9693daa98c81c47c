"""The one normaliser for answers, and matching on word borders.

The written definition, which any other implementation (SQL among them) follows:

1. compose (Unicode NFC), and map full-width ASCII (U+FF01 to U+FF5E) and the digits of every script to ASCII;
2. fold case fully (Unicode's case folding: `ß` is `ss`, `ς` is `σ`, `İ` is `i̇`) and compose again; then replace every
   character that is no letter, mark or number (categories L, M, N) by a space, and set a character of a script written
   without spaces (Han, kana) between two spaces;
3. split on spaces and drop the words `a`, `an`, `the`, unless that would leave nothing;
4. join with single spaces.

`normalise` is these steps. `marked` also keeps what step 2 loses though it carries meaning, by the rules of
`builders/marks.py` on the folded text before its punctuation is replaced: the sign of a number, numbers by their value
(`29.00` is `29`, `1,000` is `1000`), the currency of an amount, and the marks of `C++`, `C#`, `AB-`, `A*` and `.NET`.
"""

import re
import unicodedata
from collections import Counter

from builders.marks import CURRENCY_CODES, MARKS, OTHER_CURRENCY, UNITS, encoded

ARTICLES = frozenset(("a", "an", "the"))

# Han ideographs, hiragana and katakana: every character counts as a word of its own.
_UNSPACED = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F))

_UTF8 = "surrogatepass"  # half a surrogate pair, which JSON allows, is no error
_RUN = re.compile(rb"[\x80-\xff]+")  # characters beyond ASCII, in UTF-8
_MOST_RUNS = 100_000

# Signs beyond ASCII that the rules for marks read as the ASCII ones; `normalise` turns both into spaces.
_AS_ASCII = {"−": "-", "–": "-", "♯": "#", "∗": "*", "٪": "%", "٫": ".", "٬": ","}
_AS_ASCII |= dict.fromkeys("’\u00a0\u2009\u202f", "'")
_AS_ASCII |= dict.fromkeys("\u2010\u2011\ufe63\u207b\u208b", "-")  # hyphens, small, superscript and subscript signs
_AS_ASCII |= {"﹢": "+", "⁺": "+", "₊": "+", "﹪": "%", "﹟": "#", "﹩": "$"}


def _fold_character(char: str) -> str:
    if char in _AS_ASCII:
        return _AS_ASCII[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category[0] not in "LMN":
        return CURRENCY_CODES.get(char, OTHER_CURRENCY) if category == "Sc" else " "
    if any(first <= ord(char) <= last for first, last in _UNSPACED):
        return f" {char} "
    return char


def composed(text: str) -> str:
    """A text in the one Unicode form (NFC) in which texts are searched and compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _table(kept: dict[int, int]) -> bytes:
    """ASCII in lower case; punctuation that is not kept, and controls, as spaces."""
    plain = [code if chr(code).isalnum() else ord(" ") for code in range(128)]
    return bytes([kept.get(code, plain[code]) for code in range(128)]).lower() + bytes(range(128, 256))


_WIDE = re.compile("[\uff01-\uff5e]")
_NARROW = {0xFEE0 + code: code for code in range(0x21, 0x7F)}
_WORDS = _table({})
_WITH_PUNCTUATION = _table({code: code for code in range(0x21, 0x7F)})
_WITH_MARKS = _table(MARKS)


class _Runs(dict[bytes, bytes]):
    """Step 2 for runs beyond ASCII, of which few are distinct; filled as they are met, emptied when full."""

    def __missing__(self, run: bytes) -> bytes:
        if len(self) >= _MOST_RUNS:
            self.clear()
        folded = "".join(map(_fold_character, run.decode(errors=_UTF8)))
        self[run] = in_utf8 = folded.encode(errors=_UTF8)
        return in_utf8


_RUNS = _Runs()


def _with_punctuation(text: str) -> bytes:
    """Steps 1 and 2 with ASCII punctuation still there, in UTF-8."""
    if text.isascii():
        return text.encode().translate(_WITH_PUNCTUATION)
    narrow = composed(text)
    if _WIDE.search(narrow):
        narrow = narrow.translate(_NARROW)
    cased = unicodedata.normalize("NFC", narrow.casefold())
    folded = cased.encode(errors=_UTF8).translate(_WITH_PUNCTUATION)
    return _RUN.sub(lambda run: _RUNS[run[0]], folded)


def fold_bytes(text: str) -> bytes:
    """Steps 1 and 2 in UTF-8: composed, case folded, punctuation turned into spaces; articles still there."""
    if text.isascii():
        return text.encode().translate(_WORDS)
    return _with_punctuation(text).translate(_WORDS)


def marked_bytes(text: str) -> bytes:
    """`fold_bytes` with marks kept and numbers by their value."""
    folded = _with_punctuation(text)
    found = encoded(folded)
    return folded.translate(_WORDS) if found is None else found.translate(_WITH_MARKS)


def fold(text: str) -> str:
    """`fold_bytes` as text."""
    return fold_bytes(text).decode(errors=_UTF8)


def marked_words(text: str) -> list[str]:
    """The words of a text with their marks, articles among them."""
    return marked_bytes(text).decode(errors=_UTF8).split()


def normalise(text: str) -> str:
    """The normal form of an answer or a passage: case-folded words without articles, single spaces."""
    return _without_articles(fold(text).split())


def marked(text: str) -> str:
    """The normal form with marks kept and numbers by their value: what strict scores compare."""
    return _without_articles(marked_words(text))


def loses_mark(answer: str) -> bool:
    """Whether normalising takes a sign or mark from an answer that tells it from another: `-5`, `C++`, `50%`, `$5`."""
    kept, plain = marked(answer), Counter(normalise(answer).split())
    return has_mark(kept) or any(count > plain[word] for word, count in Counter(kept.split()).items() if word in UNITS)


def has_mark(kept: str) -> bool:
    """Whether a text in marked form has a sign or a mark; the point of a number is none."""
    return any(mark in kept for mark in "+#-*") or " ." in f" {kept}"


def contains(answer: str, text: str) -> bool:
    """Whether `answer` occurs in `text` on word borders, both in marked form; an empty answer never does.

    An answer made of articles alone ("A") is looked for with the articles of `text` left in.
    """
    needle = marked(answer)
    if not needle:
        return False
    haystack = " ".join(marked_words(text)) if is_article(needle) else marked(text)
    return f" {needle} " in f" {haystack} "


def gives_away(answer: str, text: str) -> bool:
    """Whether a reader of `text` could take `answer` from it: it contains it, marks regarded or not.

    An answer with a mark must occur with its mark (`C++` does not occur in "Vitamin C"). One without may occur with any
    (`Google` in "Google+", `5` in "-5"), so that a leak is never missed for a sign.
    """
    if contains(answer, text):
        return True
    needle = normalise(answer)
    if not needle or is_article(needle) or has_mark(marked(answer)):
        return False
    return f" {needle} " in f" {normalise(text)} "


def is_article(normal: str) -> bool:
    """Whether a normalised answer consists of articles alone, so that it matches almost any text."""
    return bool(normal) and all(word in ARTICLES for word in normal.split())


def first_answer_in(text: str, answers: list[str]) -> str | None:
    """The first of `answers` that occurs in `text`, or None."""
    return next((answer for answer in answers if contains(answer, text)), None)


def _without_articles(words: list[str]) -> str:
    return " ".join([word for word in words if word not in ARTICLES] or words)
