"""Answers and citations read from raw outputs; an answer that cannot be read is None, never an empty string."""

import re
from itertools import takewhile
from typing import NamedTuple

from builders.tasks import TaskSpec
from eval_harness.models.thoughts import without_thoughts
from eval_harness.parsing.labels import label_in

CUE = re.compile(r"^[\s*#]*(?:answer|judge?ment)[\s*]*:[\s*]*", re.IGNORECASE | re.MULTILINE)  # also in Markdown bold
_EVIDENCE_CUE = re.compile(
    r"^[\s*#]*(?:evidence|citations?|sources?|(?:(?:evidence|passage|context)\s+)?ids?)[\s*]*:[\s*]*",
    re.IGNORECASE | re.MULTILINE,
)
_CITATION = re.compile(r"\s*\[\s*(?:IDs?:?\s*)?[0-9]+(?:[\s,;]+[0-9]+)*\s*\]", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+")
_LISTING = re.compile(r"(?:\W|[0-9]|ids?|passages?|and)+", re.IGNORECASE)  # a line with nothing but numbers
_NEXT_QUESTION = re.compile(r"^[\s*#]*(?:question|claim|conversation)[\s*]*:", re.IGNORECASE | re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class Parsed(NamedTuple):
    """An answer, how many answers the output gave, and whether the output broke off before any.

    `evidence`: the numbers of the cited passages as written, in order and without repeats; None where none were
    asked for.
    """

    answer: str | None
    n_answers: int = 1
    truncated: bool = False
    evidence: tuple[str, ...] | None = None


def parse(task: TaskSpec, output: str, cites: bool = False) -> Parsed:
    """The answer in an output: one of the task's labels where it has some, else the text of the first answer.

    With `cites`, for prompts that ask for evidence, the cited numbers are read too and taken out of the answer.
    """
    text = without_thoughts(output)
    if text is None:
        return Parsed(None, 0, truncated=True, evidence=() if cites else None)
    evidence = None
    if cites:
        text, evidence = _without_citations(text)
    if task.labels:
        label = label_in(text, task.labels)
        return Parsed(label, int(label is not None), evidence=evidence)
    answers = answers_in(text)
    return Parsed(answers[0] if answers else None, len(answers), evidence=evidence)


def citations(text: str) -> tuple[str, ...]:
    """The numbers in a text that cites and does nothing else: in brackets, or else in its first lines of numbers."""
    lines = takewhile(_LISTING.fullmatch, _EVIDENCE_CUE.sub("", text).strip().splitlines())
    return tuple(dict.fromkeys(_bracketed(text) or _NUMBER.findall("\n".join(lines))))


def only_cites(text: str) -> bool:
    """Whether a text is nothing but numbers from a bracket on."""
    return text.startswith("[") and _LISTING.fullmatch(text) is not None


def answers_in(text: str) -> list[str]:
    """The stretches after each cue where the text begins with one, else the whole text; empty ones left out."""
    before, *after = CUE.split(text)
    stretches = after if after and not before.strip() else [text]
    return [stretch.strip() for stretch in stretches if stretch.strip()]


def _without_citations(text: str) -> tuple[str, tuple[str, ...]]:
    """The part of a text that answers, and the numbers cited: in brackets, or listed after a cue such as `IDs:`."""
    cue = _EVIDENCE_CUE.search(text)
    answering, citing = _around_cue(text, cue) if cue else _around_answer(text)
    numbers = _bracketed(citing)
    if cue and not numbers:
        first, *others = citing.splitlines() or [""]
        numbers = _NUMBER.findall("\n".join([first, *takewhile(_LISTING.fullmatch, others)]))
    return _CITATION.sub("", answering).strip(), tuple(dict.fromkeys(numbers))


def _bracketed(text: str) -> list[str]:
    return _NUMBER.findall("".join(_CITATION.findall(text)))


def _around_cue(text: str, cue: re.Match[str]) -> tuple[str, str]:
    """What answers, before the cue or after its paragraph, and the paragraph, which ends where an answer begins."""
    endings = (_BLANK_LINE, CUE, _NEXT_QUESTION)
    end = min((found.start() for ending in endings if (found := ending.search(text, cue.end()))), default=len(text))
    before, after = text[: cue.start()].strip(), _EVIDENCE_CUE.split(text[end:])[0].strip()
    answer_follows = CUE.match(after) and not CUE.search(before)
    return (after if answer_follows or not before else before), text[cue.end() : end]


def _around_answer(text: str) -> tuple[str, str]:
    """The answer and the passages before it where the text begins with a citation, else the whole text twice."""
    answer = CUE.search(text) if _CITATION.match(text) else None
    return (text[answer.start() :], text[: answer.start()]) if answer else (text, text)
