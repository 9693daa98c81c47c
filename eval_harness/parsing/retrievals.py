"""The retrieval that a tuned model writes before its answer: passages of its context, copied or cited by number."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from builders.prompts import block
from builders.text import normalise
from eval_harness.data.dataset import Passage
from eval_harness.models.base import MARKS
from eval_harness.models.thoughts import without_thoughts
from eval_harness.parsing.answers import CUE, only_cites

_OPENS, _CLOSES = MARKS
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_ID = re.compile(r"^ID:[^\S\n]*(?P<number>[0-9]+)[^\S\n]*$", re.MULTILINE)
_CONTEXT = re.compile(r"^Context:", re.MULTILINE)
_HEADER = re.compile(r"^(?:ID|Title):.*$", re.MULTILINE)
_START = re.compile(r"\bID:\s*(?P<number>[0-9]+)\b(?:\s*Title:)?|\bTitle:", re.IGNORECASE)  # wherever it is on a line
_BODY = re.compile(r"\b(?:Context|Passage|Text):", re.IGNORECASE)


class Parts(NamedTuple):
    """An output's retrieval, "" where none was written, and what answers, None where the output broke off before."""

    retrieval: str
    answering: str | None


def parts(output: str) -> Parts:
    """An output in its two parts.

    The retrieval stands between the marks. A mark that opens may be missing; where the one that closes is, the output
    broke off. Without marks the retrieval is what stands before the cue of the answer, and where there is no cue, an
    output that begins as a retrieval does broke off and any other answers at once.
    """
    text = without_thoughts(output)
    if text is None:
        return Parts("", None)
    if _MARK.search(text):
        before, closes, after = text.partition(_CLOSES)
        retrieval = before.partition(_OPENS)[2] if _OPENS in before else before
        return Parts(retrieval, _MARK.split(after)[0] if closes else None)
    if cue := CUE.search(text):
        start = cue.end() - len(cue[0].lstrip())
        return Parts(text[:start], text[start:])
    if _ID.match(text) or only_cites(text):
        return Parts(text, None)
    return Parts("", text)


def cited(passages: Sequence[Passage], numbers: Sequence[str]) -> list[str]:
    """The pids of passages cited by their number in the prompt; a number that none has stands as `[number]`."""
    pids = {str(number): passage.pid for number, passage in enumerate(passages, start=1)}
    return [pids.get(number.lstrip("0"), f"[{number}]") for number in numbers]


def copied(passages: Sequence[Passage], retrieval: str) -> list[str]:
    """The pids of the passages that a retrieval copies, in its order and without repeats.

    A copy is of a passage where it is its block in the prompt, letter by letter. Else its text counts, normalised: of
    a passage with the same text, of the one passage that it is a part of, or of all that stand in it whole. Among
    several it is of the one whose number it bears. Headers and text may be on one line or on several, with or without
    their labels. Copies of no passage are `[?]`, `[?2]` and so on.
    """
    found: dict[str, None] = {}
    strange: dict[str, str] = {}
    for number, copy in _copies(passages, retrieval):
        pids = [passages[number - 1].pid] if copy is None else _read(passages, number, copy)
        if copy is not None and not pids:
            pids = [strange.setdefault(_text(copy), f"[?{len(strange) + 1}]" if strange else "[?]")]
        found |= dict.fromkeys(pids)
    return list(found)


def _copies(passages: Sequence[Passage], retrieval: str) -> Iterator[tuple[int, str | None]]:
    """The number that each copy bears, 0 without one, and the copy, or None where it is the passage's very block."""
    text = retrieval.lstrip() + "\n"
    at = 0
    while at < len(text):
        header = _ID.match(text, at)
        number = int(header["number"]) if header else 0
        whole = _block(passages, number)
        if whole and text.startswith(whole, at):
            yield number, None
            at += len(whole)
            continue
        following = _ID.search(text, at + 1)
        end = following.start() if following else len(text)
        if text[at:end].strip():
            yield number, text[at:end]
        at = end


def _block(passages: Sequence[Passage], number: int) -> str | None:
    """The block of a passage in the prompt, None where no passage has the number."""
    if not 0 < number <= len(passages):
        return None
    passage = passages[number - 1]
    return block(number, passage.title, passage.text)


def _read(passages: Sequence[Passage], number: int, copy: str) -> list[str]:
    """The pids of the passages that a copy is of: as its lines say, or more where headers are found anywhere in it."""
    by_lines, anywhere = _alike(passages, number, _text(copy)), _headed(passages, number, copy)
    return anywhere if set(anywhere) > set(by_lines) else by_lines


def _headed(passages: Sequence[Passage], number: int, copy: str) -> list[str]:
    """The pids of the passages that the parts of a copy are of, each from one header to the next."""
    found: list[str] = []
    starts = list(_START.finditer(copy))
    ends = [*(start.start() for start in starts), len(copy)]
    parts = [(number, copy[: ends[0]])]
    for start, end in zip(starts, ends[1:], strict=True):
        parts.append((int(start["number"][:9]) if start["number"] else number, copy[start.end() : end]))
    for own, part in parts:
        body = _BODY.search(part)
        text = normalise(part[body.end() :] if body else part)
        found += ([] if body else _titled(passages, own, text)) + _alike(passages, own, text)
    return list(dict.fromkeys(found))


def _titled(passages: Sequence[Passage], number: int, text: str) -> list[str]:
    """The pid of the passage whose title opens a text, which goes on as a part of its text or holds it whole."""
    fitting = []
    for at, passage in enumerate(passages):
        title, whole = normalise(passage.title), normalise(passage.text)
        rest = text.removeprefix(f"{title} ")
        if rest != text and rest and whole and (f" {rest} " in f" {whole} " or f" {whole} " in f" {rest} "):
            fitting.append(at)
    chosen = [number - 1] if number - 1 in fitting else fitting if len(fitting) == 1 else []
    return [passages[at].pid for at in chosen]


def _text(copy: str) -> str:
    """What a copy copies, normalised: the text after its headers, if it has any."""
    context = _CONTEXT.search(copy)
    return normalise(copy[context.end() :] if context else _HEADER.sub("", copy))


def _alike(passages: Sequence[Passage], number: int, text: str) -> list[str]:
    """The pids of the passages that a text without an exact block is of."""
    if not text:
        return []
    texts = [normalise(passage.text) for passage in passages]
    same = [at for at, other in enumerate(texts) if other == text]
    if holding := same or [at for at, other in enumerate(texts) if f" {text} " in f" {other} "]:
        chosen = [number - 1] if number - 1 in holding else holding if len(holding) == 1 else []
        return [passages[at].pid for at in chosen]
    inside = [at for at, other in enumerate(texts) if other and f" {other} " in f" {text} "]
    largest = [at for at in inside if not any(_within(texts[at], texts[other]) for other in inside)]
    return [passages[at].pid for at in largest]


def _within(text: str, other: str) -> bool:
    """Whether a text is a smaller part of another."""
    return text != other and f" {text} " in f" {other} "
