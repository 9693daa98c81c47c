"""Titles of pages in the one form in which they are compared, as MediaWiki has it."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar
from urllib.parse import unquote

from builders.sources.clean import decode_entities
from builders.text import composed

T = TypeVar("T")

_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]")  # marks of direction and of no width


def title_key(title: str) -> str:
    """A title without entities, in NFC, a capital first, with single spaces for all whitespace and underscores."""
    text = composed(decode_entities(title))
    if not text.isascii():
        text = _UNSEEN.sub("", text)
    text = " ".join(text.replace("_", " ").split())
    capital = text[:1].upper()
    return capital + text[1:] if len(capital) == 1 else text


def title_of(href: str) -> str:
    """The title that a link leads to: without its fragment and percent-encoding, as `title_key` writes it."""
    path = decode_entities(href).split("#")[0].removeprefix("./")
    raw = unquote(path, errors="strict") if _is_utf8(path) else unquote(path, encoding="latin-1")
    return title_key(raw)


def _is_utf8(path: str) -> bool:
    try:
        unquote(path, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def first_paragraph(title: str, paragraphs: Sequence[str]) -> int:
    """The number of the first paragraph of text: 1 where paragraph 0 is the title, as in KILT, else 0."""
    return int(not paragraphs or title_key(paragraphs[0]) == title_key(title))


def by_title(pairs: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """The values of each title, in order, by the title's key."""
    found: dict[str, list[T]] = {}
    for title, one in pairs:
        found.setdefault(title_key(title), []).append(one)
    return found
