"""FRAMES (Krishna et al., NAACL 2025) over a knowledge source: all passages of a question's articles among others.

A config has the questions whose articles are all there and fit its length; the others are counted, never built.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from builders.chunk import chunk_page
from builders.config import QuestionSource, Source
from builders.errors import SetupError
from builders.filters import AnswerFilter, Text, answer_flags, drop_reasons
from builders.mix import Item, Mixer, finish
from builders.schema import Page, Question
from builders.seeds import order_key
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.synthetic.base import Kind, Made, MadeRecipe, row_of
from builders.tasks import TaskSpec
from builders.tokens import token_counter

TASK = "frames"
VARIETY = 4  # how many times the words of the longest context the other pages hold


class FramesRecipe(MadeRecipe):
    """Questions that name their articles, and where the articles are looked up by title."""

    questions: QuestionSource
    knowledge: Source
    chunk_words: int = Field(100, ge=20, le=1000)

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The one task."""
        return [TaskSpec(TASK, "qa", {}, "qa", "FRAMES")]

    @property
    def words(self) -> int:
        """Words that the filler of one question is drawn for: no tokenizer of use makes fewer tokens than words.

        The fifth on top is for what the filter drops.
        """
        return max(map(self.budget, self.lengths)) * 6 // 5


class Articles(NamedTuple):
    """What one reading of a knowledge source keeps: the passages of each article asked for, and those of others."""

    gold: dict[str, list[Item]]  # by title
    others: list[Item]


def inputs(recipe: FramesRecipe, base: Path) -> dict[str, Source]:
    """The questions and the knowledge source; SetupError where a reader is not known."""
    for place, source, known in (
        ("questions", recipe.questions, QUESTION_READERS),
        ("knowledge", recipe.knowledge, PAGE_READERS),
    ):
        if source.reader not in known:
            raise SetupError(f"{place}.reader {source.reader!r} is unknown; there are {', '.join(known)}")
    return {"questions": recipe.questions, "knowledge": recipe.knowledge}


def make(recipe: FramesRecipe, paths: Mapping[str, Path], counts: Counter[str]) -> Iterator[Made]:
    """A test row for each question and length; `coverage_k/n` counts the questions of which k of n articles are there.

    `missing_page` counts those left out for want of one, `gold_over_budget_{length}` those whose articles do not fit.
    """
    questions = _questions(recipe, paths["questions"], counts)
    titles = {title for question in questions for title in _titles(question)}
    articles = read_articles(recipe, paths["knowledge"], titles, counts)
    covered = []
    for question in questions:
        there = sum(title in articles.gold for title in _titles(question))
        counts[f"coverage_{there}/{question.hops}"] += 1
        if there == question.hops:
            covered.append(question)
    counts["missing_page"] += len(questions) - len(covered)
    mixer, answer_filter = Mixer(token_counter(recipe.tokenizer), recipe.seed), AnswerFilter()
    for question in covered[: recipe.limit]:
        gold = [item for title in _titles(question) for item in articles.gold[title]]
        stream = _stream(recipe, question, gold, articles.others, answer_filter, counts)
        yield from _rows(recipe, question, gold, stream, mixer, counts)


def read_articles(recipe: FramesRecipe, path: Path, titles: set[str], counts: Counter[str]) -> Articles:
    """The wanted pages of a knowledge source and a fixed sample of all pages, found in one reading.

    The sample is the pages with the smallest hashes that together hold VARIETY times the words of the longest context,
    so it does not depend on the order of the source, and memory does not grow with it.
    """
    found: dict[str, Page] = {}
    sample, read = _Sample(recipe.seed, VARIETY * recipe.words), Counter[str]()
    for page in PAGE_READERS[recipe.knowledge.reader](path, read):
        title = page.title[:1].upper() + page.title[1:]  # as links have it
        if title in titles:
            counts["title_twice"] += title in found
            found.setdefault(title, page)
        sample.add(page)
    if recipe.knowledge.rows and read["read"] != recipe.knowledge.rows:
        raise SetupError(f"{path} has {read['read']} records, and the recipe says {recipe.knowledge.rows}")
    counts["pages_read"] += read["read"]
    passages = _Passages(recipe.chunk_words)
    gold = {title: [item._replace(role="gold") for item in passages.of(page)] for title, page in found.items()}
    others = [item for page in sample.pages() for item in passages.of(page)]
    return Articles({title: items for title, items in gold.items() if items}, others)


class _Sample:
    """The pages with the smallest hashes of their ids, as few as hold so many words."""

    def __init__(self, seed: str, words: int) -> None:
        self._seed, self._words, self._held = seed, words, 0
        self._heap: list[tuple[int, str, int, Page]] = []

    def add(self, page: Page) -> None:
        words = sum(max(len(text.split()), len(text) // 10) for text in page.paragraphs[1:])
        key = int.from_bytes(order_key(self._seed, "filler", page.page_id), "big")
        heappush(self._heap, (-key, page.page_id, words, page))
        self._held += words
        while self._held - self._heap[0][2] >= self._words:
            self._held -= heappop(self._heap)[2]

    def pages(self) -> list[Page]:
        return [page for *_, page in sorted(self._heap, key=lambda entry: -entry[0])]


class _Passages:
    """Passages of pages, each with a number of its own."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._known: dict[str, tuple[str, list[Item]]] = {}  # title and passages by the page's id
        self._next = 0

    def of(self, page: Page) -> list[Item]:
        if page.page_id not in self._known:
            pieces = chunk_page(page, self._words)
            passages = [
                Item(self._next + n, f"{page.page_id}:{n}", page.title, piece.text, "random")
                for n, piece in enumerate(pieces)
            ]
            self._known[page.page_id] = (page.title, passages)
            self._next += len(pieces)
        title, passages = self._known[page.page_id]
        if title != page.title:
            raise SetupError(f"the knowledge source has several pages with id {page.page_id}; keep one of each")
        return passages


def _questions(recipe: FramesRecipe, path: Path, counts: Counter[str]) -> list[Question]:
    read = Counter[str]()
    questions = list(QUESTION_READERS[recipe.questions.reader](path, TASK, read))
    if recipe.questions.rows and read["read"] != recipe.questions.rows:
        raise SetupError(f"{path} has {read['read']} records, and the recipe says {recipe.questions.rows}")
    counts["questions_read"] = read.pop("read")
    counts.update(read)
    return questions


def _titles(question: Question) -> list[str]:
    return [quote.title for quote in question.quotes]


def _stream(
    recipe: FramesRecipe,
    question: Question,
    gold: Sequence[Item],
    others: Iterable[Item],
    answer_filter: AnswerFilter,
    counts: Counter[str],
) -> list[Item]:
    """Passages of other pages in an order of the question's own, without those that give something away."""
    own, words = {_page_id(item) for item in gold}, recipe.words
    drawn: list[Item] = []
    for item in sorted(others, key=lambda item: order_key(recipe.seed, question.id, "filler", item.pid)):
        if words <= 0:
            break
        if _page_id(item) not in own:
            words -= max(len(item.text.split()), len(item.text) // 10)
            drawn.append(item)
    answers = question.answers if question.answer_kind == "text" else []
    reasons = drop_reasons([*map(_text, drawn)], [*map(_text, gold)], (), answers, answer_filter)
    counts.update(f"filler_{reason or 'kept'}" for reason in reasons)
    return [item for item, reason in zip(drawn, reasons, strict=True) if reason is None]


def _rows(
    recipe: FramesRecipe,
    question: Question,
    gold: Sequence[Item],
    stream: Sequence[Item],
    mixer: Mixer,
    counts: Counter[str],
) -> Iterator[Made]:
    for length in recipe.lengths:
        budget = recipe.budget(length)
        fitted = mixer.context(TaskSpec(TASK, "qa"), [question.query], question.id, gold, stream, budget)
        if fitted is None:
            counts[f"gold_over_budget_{length}"] += 1
            continue
        items, (n_tokens,) = fitted
        context = finish(items, n_tokens, budget, length, ran_out=len(items) == len(gold) + len(stream))
        flags = [*answer_flags(question.answers, question.answer_kind), *context.flags]
        counts.update(context.flags)
        yield Made(recipe.config(length), "test", row_of(question, "qa", items, n_tokens, context.ratio, flags))


def _page_id(item: Item) -> str:
    return item.pid.rpartition(":")[0]


def _text(item: Item) -> Text:
    return Text(item.row, item.title, item.text)


KIND = Kind(
    FramesRecipe,
    make,
    inputs,
    says="The questions of [FRAMES](https://arxiv.org/abs/2409.12941) whose articles are all in the knowledge source, "
    "each over all passages of its articles among random passages of other pages.",
)
