"""The one normaliser for answers, and matching on word borders.

The written definition, which any other implementation (SQL among them) follows:

1. compose (Unicode NFC);
2. map each character on its own: full-width ASCII (U+FF01 to U+FF5E) to ASCII; then its one-character
   lower case, if it has one; any character that is no letter, mark or number (categories L, M, N) to a space;
   a character of a script written without spaces (Han, kana) to itself between two spaces;
3. split on spaces and drop the words `a`, `an`, `the`, unless that would leave nothing;
4. join with single spaces.
"""

import re
import unicodedata

ARTICLES = frozenset(("a", "an", "the"))

# Han ideographs, hiragana and katakana: every character counts as a word of its own.
_UNSPACED = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F))


_UTF8 = "surrogatepass"  # half a surrogate pair, which JSON allows, is no error
_RUN = re.compile(rb"[\x80-\xff]+")  # characters beyond ASCII, in UTF-8
_MOST_RUNS = 100_000


def _fold_character(code: int) -> str:
    char = chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else chr(code)
    lower = char.lower()
    char = lower if len(lower) == 1 else char
    if unicodedata.category(char)[0] not in "LMN":
        return " "
    if any(first <= code <= last for first, last in _UNSPACED):
        return f" {char} "
    return char


def composed(text: str) -> str:
    """A text in the one Unicode form (NFC) in which texts are searched and compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_ASCII = "".join(map(_fold_character, range(128))).encode() + bytes(range(128, 256))


class _Runs(dict[bytes, bytes]):
    """Step 2 for runs beyond ASCII, of which few are distinct; filled as they are met, emptied when full."""

    def __missing__(self, run: bytes) -> bytes:
        if len(self) >= _MOST_RUNS:
            self.clear()
        folded = "".join(map(_fold_character, map(ord, run.decode(errors=_UTF8))))
        self[run] = in_utf8 = folded.encode(errors=_UTF8)
        return in_utf8


_RUNS = _Runs()


def fold_bytes(text: str) -> bytes:
    """Steps 1 and 2 in UTF-8: composed, lower-cased, punctuation turned into spaces; articles still there."""
    if text.isascii():
        return text.encode().translate(_ASCII)
    in_utf8 = composed(text).encode(errors=_UTF8)
    return _RUN.sub(lambda run: _RUNS[run[0]], in_utf8.translate(_ASCII))


def fold(text: str) -> str:
    """`fold_bytes` as text."""
    return fold_bytes(text).decode(errors=_UTF8)


def normalise(text: str) -> str:
    """The normal form of an answer or a passage: lower-case words without articles, single spaces."""
    words = fold(text).split()
    return " ".join([word for word in words if word not in ARTICLES] or words)


def contains(answer: str, text: str) -> bool:
    """Whether `answer` stands in `text` on word borders, both normalised; an empty answer stands nowhere.

    An answer made of articles alone ("A") is looked for with the articles of `text` left in.
    """
    needle = normalise(answer)
    if not needle:
        return False
    haystack = " ".join(fold(text).split()) if is_article(needle) else normalise(text)
    return f" {needle} " in f" {haystack} "


def is_article(normal: str) -> bool:
    """Whether a normalised answer consists of articles alone, so that it matches almost any text."""
    return bool(normal) and all(word in ARTICLES for word in normal.split())


def first_answer_in(text: str, answers: list[str]) -> str | None:
    """The first of `answers` that stands in `text`, or None."""
    return next((answer for answer in answers if contains(answer, text)), None)
