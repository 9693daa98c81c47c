"""Cuts pages into passages of whole sentences inside one section, KILT's way (paper, section 3.2)."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

from builders.schema import PASSAGES, Page
from builders.sources.clean import HEADING, Clean, clean
from builders.sources.titles import first_paragraph

_CLOSERS = "\"'”’»›)\\]}」』）】》〉"
_OPENERS = "\"'“‘«([{"
_FULL_STOPS = "。！？｡"  # end a sentence without a following space
_END = re.compile(f"[.!?…؟۔।॥{_FULL_STOPS}]+[{_CLOSERS}]*")
_BORDER = re.compile(rf"[\s{re.escape(_OPENERS)}-]")
_LETTERS = re.compile(r"(?:\w\.)*[^\W\d_]")  # an initial, or "u.s", "e.g", "d.c"
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_LONG = 100_000  # characters of a text whose words are counted one by one, without a list of them
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")

# Abbreviations: a full stop after them seldom ends a sentence.
_SHORT = frozenset(
    """
    adm approx brig bros ca capt cf cmdr col cpl dr ed eds esp est fr ft gen gov hon incl lt maj messrs mr mrs ms
    mt mts pres prof pvt rep rev rt sen sgt sr sra st ste supt v viz vs
    """.split()
)
_SHORT_BEFORE_NUMBER = frozenset(
    """
    apr art aug ch chap dec feb fig figs jan jul jun mar no nos nov oct op para pp pt sec sep sept vol vols
    """.split()
)


class Piece(NamedTuple):
    """A passage's text and its place in the page's raw paragraphs: half-open, as in `schema.Span`."""

    text: str
    start_paragraph: int
    start_character: int
    end_paragraph: int
    end_character: int


def chunk_table(pages: pa.RecordBatch | pa.Table, words: int) -> pa.Table:
    """The passages (schema.PASSAGES) of pages (schema.PAGES), page by page; pid is `{page_id}:{n}`, n from 0."""
    columns: dict[str, list] = {name: [] for name in PASSAGES.names}
    wanted = (pages.column(name).to_pylist() for name in ("page_id", "title", "paragraphs"))
    for page_id, title, paragraphs in zip(*wanted, strict=True):
        pieces = chunk_page(Page(page_id, title, paragraphs, []), words)
        columns["pid"] += [f"{page_id}:{n}" for n in range(len(pieces))]
        columns["page_id"] += [page_id] * len(pieces)
        columns["title"] += [title] * len(pieces)
        for name, values in zip(Piece._fields, zip(*pieces, strict=True), strict=False):
            columns[name] += values
    return pa.table([columns[name] for name in PASSAGES.names], schema=PASSAGES)


def chunk_page(page: Page, words: int = 100) -> list[Piece]:
    """A page's passages of at most `words` words, in order; none for a page without text.

    Whole sentences are packed up to the next heading, across paragraphs; a longer sentence is split.
    A character of a script written without spaces counts as a word, as in `builders.text`.
    """
    packer = _Packer(words)
    first = first_paragraph(page.title, page.paragraphs)
    for number, raw in enumerate(page.paragraphs[first:], start=first):
        if raw.startswith(HEADING):
            packer.close()
        else:
            packer.add_paragraph(number, clean(raw))
    packer.close()
    return packer.pieces


class _Part(NamedTuple):
    number: int  # of the paragraph
    paragraph: Clean
    start: int
    end: int


class _Packer:
    """Fills passages with sentences, one after the other."""

    def __init__(self, words: int) -> None:
        self.pieces: list[Piece] = []
        self._words = self._room = words
        self._parts: list[_Part] = []

    def add_paragraph(self, number: int, paragraph: Clean) -> None:
        text = paragraph.text
        count = _count(text, self._room)
        if not count:
            return
        if count <= self._room:  # fits whole, so it need not be split into sentences
            self._add(_Part(number, paragraph, *_stripped(text, 0, len(text))), count)
            return
        for start, end in sentences(text):
            for stretch, count in _split(text, start, end, self._words):
                self._add(_Part(number, paragraph, *stretch), count)

    def _add(self, part: _Part, count: int) -> None:
        if count > self._room:
            self.close()
        if self._parts and self._parts[-1].number == part.number:
            part = part._replace(start=self._parts.pop().start)
        self._parts.append(part)
        self._room -= count

    def close(self) -> None:
        """Ends the open passage."""
        if self._parts:
            first, last = self._parts[0], self._parts[-1]
            text = " ".join(word for p in self._parts for word in p.paragraph.text[p.start : p.end].split())
            start, end = first.paragraph.starts[first.start], last.paragraph.ends[last.end - 1]
            self.pieces.append(Piece(text, first.number, start, last.number, end))
        self._parts, self._room = [], self._words


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text starts and ends, without the whitespace around it."""
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, start, match):
            yield _stripped(text, start, match.end())
            start = match.end()
    if text[start:].strip():
        yield _stripped(text, start, len(text))


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether punctuation found in the sentence that began at `start` ends it."""
    mark, at, after = match[0], match.start(), text[match.end() : match.end() + 8]
    if mark.rstrip(_CLOSERS)[-1] in _FULL_STOPS:
        return True
    if not after[:1].isspace():
        # "in Paris.He went" lacks a space, but "3.14", "U.S.A" and "ASP.NET" are one word
        return mark == "." and at > start and text[at - 1].islower() and after[:1].isupper() and after[1:2].islower()
    following = after.lstrip().lstrip(_OPENERS)[:1]
    if following.islower():
        return False
    return mark != "." or not _is_short(text, start, at, following)


def _is_short(text: str, start: int, at: int, following: str) -> bool:
    """Whether the full stop at `at` belongs to an abbreviation, an initial or a list number."""
    word = _BORDER.split(text[max(start, at - 12) : at])[-1].lower()
    if word in _SHORT or _LETTERS.fullmatch(word):
        return True
    if word.isdecimal():
        return not text[start : at - len(word)].strip()
    return word in _SHORT_BEFORE_NUMBER and following.isdecimal()


def _split(text: str, start: int, end: int, words: int) -> Iterator[tuple[tuple[int, int], int]]:
    """A sentence as stretches of at most `words` words, each with its number of words."""
    count = _count(text[start:end], words)
    if count <= words:
        yield (start, end), count
        return
    found = _WORD.finditer(text, start, end)
    while part := [match.span() for match in islice(found, words)]:
        yield (part[0][0], part[-1][1]), len(part)


def _count(text: str, most: int) -> int:
    """The words of a text, of a long one no more than `most` + 1: a list of all of them may be larger than memory."""
    if len(text) > _LONG:
        return sum(1 for _ in islice(_WORD.finditer(text), most + 1))
    if text.isascii() or not _HAS_UNSPACED.search(text):
        return len(text.split())
    return len(_WORD.findall(text))


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without the whitespace at its ends."""
    stretch = text[start:end]
    return end - len(stretch.lstrip()), start + len(stretch.rstrip())
