"""HotpotQA's own files (Yang et al., EMNLP 2018): a JSON array of questions, each with its paragraphs."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from builders.schema import Page, Question
from builders.sources.base import Reader
from builders.sources.paragraphs import read_context_pages, read_context_questions, read_given_questions

_JOINT = ""  # sentences carry the space before them


def read_pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
    """A page for each distinct paragraph."""
    return read_context_pages(path, counts, _JOINT)


def read_questions(path: Path, task: str, counts: Counter[str]) -> Iterator[Question]:
    """The questions that can be built, each supporting sentence a span; hops are the supporting titles."""
    return read_context_questions(path, task, counts, _JOINT)


def read_given(path: Path, task: str, counts: Counter[str]) -> Iterator[tuple[Question, list[Page]]]:
    """The same questions, each with the paragraphs that come with it."""
    return read_given_questions(path, task, counts, _JOINT)


READER = Reader("HotpotQA's files", read_pages, read_questions, read_given, gold="all")
