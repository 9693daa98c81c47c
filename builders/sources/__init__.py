"""Readers of pages and questions, by the name that a recipe gives them."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from builders.schema import Page, Question
from builders.sources import frames, hotpotqa, intros, kilt, musique, twowiki

PAGE_READERS: dict[str, Callable[[Path, Counter[str]], Iterator[Page]]] = {
    "kilt": kilt.read_pages,
    "hotpotqa": hotpotqa.read_pages,
    "twowiki": twowiki.read_pages,
    "musique": musique.read_pages,
    "intros": intros.read_pages,
}

QUESTION_READERS: dict[str, Callable[[Path, str, Counter[str]], Iterator[Question]]] = {
    "kilt": kilt.read_questions,
    "hotpotqa": hotpotqa.read_questions,
    "twowiki": twowiki.read_questions,
    "musique": musique.read_questions,
    "frames": frames.read_questions,
}

# of files that bring paragraphs with each question
GIVEN_READERS: dict[str, Callable[[Path, str, Counter[str]], Iterator[tuple[Question, list[Page]]]]] = {
    "hotpotqa": hotpotqa.read_given,
    "twowiki": twowiki.read_given,
}
