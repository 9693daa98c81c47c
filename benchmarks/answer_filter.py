"""The answer filter, compared with plain loops that normalise every candidate and use `in`."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.inputs import TASKS, corpus, questions
from benchmarks.report import Result
from benchmarks.timing import Timed, alternately
from builders.corpus import Corpus
from builders.filters import AnswerFilter
from builders.schema import Passage
from builders.seeds import order_key, rng_for

SEED = "benchmark"
QUESTIONS = 500
CANDIDATES = 600
UNEXPLAINED = "unexplained"

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


class Asked(NamedTuple):
    """A question's answers, and the passages to search for them."""

    answers: list[str]
    candidates: list[Passage]


def bench(folder: Path, work: Path) -> list[Result]:
    """Candidates per second; the matching rules must explain every difference in what is dropped."""
    asked = cases(folder, corpus(folder, work / "corpus"))
    ours, plain, alike = alternately(
        lambda: dropped(asked), lambda: loop_dropped(asked, squad_normal), lambda: loop_dropped(asked, _unicode_normal)
    )
    return [
        _result("answer_filter", "a plain loop with a SQuAD normaliser", asked, ours, plain),
        _result("answer_filter, Unicode", "a plain loop with a normaliser for every script", asked, ours, alike),
    ]


def _result(name: str, peer_is: str, asked: Sequence[Asked], ours: Timed, peer: Timed) -> Result:
    n = sum(len(case.candidates) for case in asked)
    kinds = differences(asked, ours.result, peer.result)
    drops = sum(map(sum, ours.result)), sum(map(sum, peer.result))
    counted = ", ".join(f"{n:,} only {side}: {rule}" for (side, rule), n in sorted(kinds.items())) or "none"
    return Result(
        name,
        "candidates/s",
        n / ours.seconds,
        n / peer.seconds,
        peer.seconds / ours.seconds,
        "40 or more",
        all(rule != UNEXPLAINED for _, rule in kinds),
        peer_is,
        (f"ours drops {drops[0]:,}, the loop {drops[1]:,}; differences: {counted}",),
    )


def cases(folder: Path, passages: Corpus) -> list[Asked]:
    """Questions of all tasks whose answers are text, each with random passages, the same on every machine."""
    usable = [q for task in TASKS for q in questions(folder, task) if q.answer_kind == "text"]
    chosen = sorted(usable, key=lambda question: order_key(SEED, question.id))[:QUESTIONS]
    texts = _texts(passages)
    n = min(CANDIDATES, len(texts))
    return [Asked(q.answers, rng_for(SEED, q.id).sample(texts, n)) for q in chosen]


def _texts(passages: Corpus) -> list[Passage]:
    return [
        Passage(row, *values)
        for start, batch in passages.batches()
        for row, values in enumerate(
            zip(*(batch.column(name).to_pylist() for name in ("pid", "title", "text")), strict=True), start=start
        )
    ]


def dropped(asked: Sequence[Asked]) -> list[list[bool]]:
    """Whether our filter drops each candidate of each question; nothing is cached from an earlier call."""
    answer_filter = AnswerFilter()
    return [[hit is not None for hit in answer_filter.hits(case.answers, case.candidates)] for case in asked]


def loop_dropped(asked: Sequence[Asked], normal_form: Callable[[str], str]) -> list[list[bool]]:
    """Whether a plain loop with a normaliser drops each candidate of each question."""
    found = []
    for case in asked:
        answers = [normal for answer in case.answers if (normal := normal_form(answer))]
        normals = (normal_form(f"{candidate.title} {candidate.text}") for candidate in case.candidates)
        found.append([any(answer in normal for answer in answers) for normal in normals])
    return found


def squad_normal(text: str) -> str:
    """SQuAD's normal form: lower case, then no punctuation, no articles, single spaces."""
    kept = "".join(character for character in text.lower() if character not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", kept).split())


def differences(asked: Sequence[Asked], ours: list[list[bool]], loop: list[list[bool]]) -> Counter[tuple[str, str]]:
    """How many candidates only one side drops, by side and by the rule that explains it."""
    kinds: Counter[tuple[str, str]] = Counter()
    for case, our_row, loop_row in zip(asked, ours, loop, strict=True):
        for candidate, mine, theirs in zip(case.candidates, our_row, loop_row, strict=True):
            if mine != theirs:
                kinds["ours" if mine else "the loop", _rule(case.answers, candidate, mine)] += 1
    return kinds


def _rule(answers: Sequence[str], candidate: Passage, ours: bool) -> str:
    """The first rule that, added to the loop's and the previous ones, gives our result."""
    joined, apart = [f"{candidate.title} {candidate.text}"], [candidate.title, candidate.text]
    steps = (
        ("inside a longer word", squad_normal, joined),
        ("title and text searched separately", squad_normal, apart),
        ("punctuation as a word boundary", _spaced_normal, apart),
        ("punctuation of every script", _unicode_normal, apart),
    )
    for name, normal, texts in steps:
        needles = [f" {found} " for answer in answers if (found := normal(answer))]
        if any(needle in f" {normal(text)} " for needle in needles for text in texts) == ours:
            return name
    return UNEXPLAINED


def _spaced_normal(text: str) -> str:
    return squad_normal("".join(" " if character in _PUNCTUATION else character for character in text))


def _unicode_normal(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    letters = "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in composed)
    words = letters.lower().split()
    return " ".join([word for word in words if word not in ("a", "an", "the")] or words)
