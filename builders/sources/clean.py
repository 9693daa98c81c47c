"""What is taken out of raw text: markup entities, and the list markers of the Wikipedia dump."""

import re
from collections.abc import Sequence
from html.entities import html5
from typing import NamedTuple

HEADING = "Section::::"  # a paragraph that starts with it is a heading; elsewhere it is text like any other

_MARKER = r"BULLET::::(?:-(?=\s|$))?"
_ENTITY = r"&(?:#0*([0-9]{1,7})|#[xX]0*([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));"
_FIND_MARKER = re.compile(_MARKER)
_FIND_ENTITY = re.compile(_ENTITY)
_FIND_EITHER = re.compile(f"{_ENTITY}|{_MARKER}")


class Clean(NamedTuple):
    """A text without markers and entities; character i comes from `raw[starts[i]:ends[i]]`."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def clean(raw: str) -> Clean:
    """A paragraph as a reader sees it, with the way back to its raw characters."""
    if "&" not in raw and "BULLET::::" not in raw:
        return Clean(raw, range(len(raw)), range(1, len(raw) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in _FIND_EITHER.finditer(raw):
        start, end = match.span()
        shown = _character(match) if raw[start] == "&" else ""
        parts += raw[at:start], shown
        starts += range(at, start)
        ends += range(at + 1, start + 1)
        starts += [start] * len(shown)
        ends += [end] * len(shown)
        at = end
    parts.append(raw[at:])
    starts += range(at, len(raw))
    ends += range(at + 1, len(raw) + 1)
    return Clean("".join(parts), starts, ends)


def strip_markers(paragraph: str) -> str:
    """A paragraph without its `BULLET::::` markers and the dash of a list item."""
    return _FIND_MARKER.sub("", paragraph)


def decode_entities(text: str) -> str:
    """Text with its entities decoded once: only those that end in a semicolon and name a character.

    Unlike `html.unescape`, "&not a" and numbers that are no character stay as they are.
    """
    return _FIND_ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    """The character of an entity, or the entity itself where it has none."""
    decimal, hexadecimal, name = entity.group(1, 2, 3)
    if name:
        return html5.get(f"{name};", entity[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if _is_character(code) else entity[0]


def _is_character(code: int) -> bool:
    """Whether XML allows the code point, control characters aside."""
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0x7E
        or 0xA0 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )
