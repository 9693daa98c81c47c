"""FRAMES (Krishna et al., NAACL 2025) over a knowledge source: all passages of a question's articles, with filler.

A config has the questions whose articles are all in the source and fit its length; the others are only counted.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from builders.answers import answerable
from builders.config import QuestionSource, Source
from builders.engine import Pipeline, Stage, Tick
from builders.errors import SetupError
from builders.files import write_json
from builders.filters import AnswerFilter, answer_flags, drop_reasons
from builders.gold import flags_of_gold
from builders.mix import finish, mixer_of
from builders.schema import Page, Passage, Question, Quote
from builders.seeds import order_key
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.sources.titles import title_key
from builders.synthetic.base import SyntheticRecipe, SyntheticRow, row_of
from builders.synthetic.pages import Passages, Sample
from builders.synthetic.rows import WRITE, read_passages, write_passages, write_rows
from builders.tasks import TaskSpec
from builders.work import Build, Counts, Shard

TASK = "frames"
SPEC = TaskSpec(TASK, "qa", source="FRAMES")
_QUESTIONS, _ARTICLES = "questions.json", "articles"  # shards
QUESTIONS_PER_SHARD = 8
VARIETY = 4  # words of the other pages, as a multiple of the longest context


class FramesRecipe(SyntheticRecipe):
    """Questions that name their articles, and the source in which articles are looked up by title."""

    questions: QuestionSource
    knowledge: Source
    chunk_words: int = Field(100, ge=20, le=1000)

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The one task."""
        return [SPEC]

    @property
    def words(self) -> int:
        """Words of filler drawn for one question: a usable tokenizer makes at least one token per word.

        A fifth is added for passages that the filter drops.
        """
        return max(map(self.budget, self.lengths)) * 6 // 5


class Articles(NamedTuple):
    """The result of reading a knowledge source once: the passages of each wanted article, and those of others."""

    gold: dict[str, list[Passage]]  # by title
    others: list[Passage]

    def write(self, folder: Path) -> None:
        """Writes two files into a folder."""
        passages = {item.row: item for items in (*self.gold.values(), self.others) for item in items}
        write_passages(folder / "passages.arrow", [passages[row] for row in range(len(passages))])
        gold = {title: [item.row for item in items] for title, items in self.gold.items()}
        write_json(folder / "rows.json", {"gold": gold, "others": [item.row for item in self.others]})

    @classmethod
    def read(cls, folder: Path) -> "Articles":
        """What `write` wrote."""
        passages = read_passages(folder / "passages.arrow")
        rows = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
        gold = {title: [passages[row]._replace(role="gold") for row in own] for title, own in rows["gold"].items()}
        return cls(gold, [passages[row] for row in rows["others"]])


def sources(recipe: FramesRecipe, base: Path) -> dict[str, Source]:
    """The questions and the knowledge source; SetupError where a reader is unknown."""
    for place, source, known in (
        ("questions", recipe.questions, QUESTION_READERS),
        ("knowledge", recipe.knowledge, PAGE_READERS),
    ):
        if source.reader not in known:
            raise SetupError(f"{place}.reader {source.reader!r} is unknown; there are {', '.join(known)}")
    return {"questions": recipe.questions, "knowledge": recipe.knowledge}


def plan_questions(build: Build[FramesRecipe]) -> list[Shard]:
    """One shard."""
    return [Shard(_QUESTIONS)]


def make_questions(build: Build[FramesRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes all questions with the titles of their articles."""
    counts: Counter[str] = Counter()
    questions = _questions(build.recipe, build.inputs["questions"].path, counts)
    out.write_text(json.dumps([question._asdict() for question in questions], ensure_ascii=False), encoding="utf-8")
    return dict(+counts)


def _asked(build: Build[FramesRecipe]) -> list[Question]:
    values = json.loads(build.path("questions", _QUESTIONS).read_text(encoding="utf-8"))
    return [Question(**{**value, "quotes": tuple(Quote(*quote) for quote in value["quotes"])}) for value in values]


def plan_articles(build: Build[FramesRecipe]) -> list[Shard]:
    """One shard: the knowledge source is read once, from its beginning."""
    return [Shard(_ARTICLES)]


def make_articles(build: Build[FramesRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the passages of the articles and of other pages, and the number of each question with all articles.

    `coverage_k/n` counts the questions with k of n articles in the source, `missing_page` those excluded because one
    is missing.
    """
    asked, counts = _asked(build), Counter[str]()
    titles = {title for one in asked for title in _titles(one)}
    articles = read_articles(build.recipe, build.inputs["knowledge"].path, titles, counts, tick)
    covered = []
    for number, one in enumerate(asked):
        there = sum(title in articles.gold for title in _titles(one))
        counts[f"coverage_{there}/{one.hops}"] += 1
        if there == one.hops:
            covered.append(number)
    counts["missing_page"] += len(asked) - len(covered)
    out.mkdir()
    articles.write(out)
    write_json(out / "covered.json", covered)
    return dict(+counts)


def plan_rows(build: Build[FramesRecipe]) -> list[Shard]:
    """One shard for every few questions."""
    return [Shard(f"{number:05d}", part=number) for number in range(-(-len(_covered(build)) // QUESTIONS_PER_SHARD))]


def _covered(build: Build[FramesRecipe]) -> list[int]:
    """The numbers of the questions that get rows."""
    covered: list[int] = json.loads((build.path("articles", _ARTICLES) / "covered.json").read_text())
    return covered[: build.recipe.limit]


def make_rows(build: Build[FramesRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes a test row for each question and length; `gold_over_budget_{length}` counts those that do not fit."""
    recipe, first, counts = build.recipe, shard.part * QUESTIONS_PER_SHARD, Counter[str]()
    asked, articles = _asked(build), _articles(build.path("articles", _ARTICLES))
    maker = _Maker(recipe, articles, counts)
    numbers = _covered(build)[first : first + QUESTIONS_PER_SHARD]
    write_rows((row for number in numbers for row in maker.rows(asked[number])), out)
    return dict(+counts)


def read_articles(recipe: FramesRecipe, path: Path, titles: set[str], counts: Counter[str], tick: Tick) -> Articles:
    """The wanted pages of a knowledge source and a fixed sample of all pages, in one pass.

    The sample is the pages with the smallest hashes that together hold VARIETY times the words of the longest context,
    so it does not depend on the order of the source, and memory does not grow with it.
    """
    found: dict[str, list[Page]] = {}
    sample, read = Sample(recipe.seed, VARIETY * recipe.words), Counter[str]()
    for page in PAGE_READERS[recipe.knowledge.reader](path, read):
        if (title := title_key(page.title)) in titles:  # as links have it
            found.setdefault(title, []).append(page)
        sample.add(page)
        tick(read["read"], recipe.knowledge.rows or read["read"])
    if recipe.knowledge.rows and read["read"] != recipe.knowledge.rows:
        raise SetupError(f"{path} has {read['read']} records, and the recipe says {recipe.knowledge.rows}")
    counts["pages_read"] += read["read"]
    passages = Passages(recipe.chunk_words)
    counts["ambiguous_title"] += sum(len(pages) > 1 for pages in found.values())
    gold = {
        title: [item._replace(role="gold") for item in passages.of(pages[0])]
        for title, pages in found.items()
        if len(pages) == 1  # else no one knows which of them the link means
    }
    others = [item for page in sample.pages() for item in passages.of(page)]
    return Articles({title: items for title, items in gold.items() if items}, others)


def _questions(recipe: FramesRecipe, path: Path, counts: Counter[str]) -> list[Question]:
    read = Counter[str]()
    questions = list(QUESTION_READERS[recipe.questions.reader](path, TASK, read))
    if recipe.questions.rows and read["read"] != recipe.questions.rows:
        raise SetupError(f"{path} has {read['read']} records, and the recipe says {recipe.questions.rows}")
    counts["questions_read"] = read.pop("read")
    counts.update(read)
    return answerable(questions, SPEC, counts)


def _titles(question: Question) -> list[str]:
    return [quote.title for quote in question.quotes]


class _Maker:
    """Builds rows of questions whose articles are all in the source."""

    def __init__(self, recipe: FramesRecipe, articles: Articles, counts: Counter[str]) -> None:
        self._recipe, self._articles, self._counts = recipe, articles, counts
        self._mixer, self._answers = mixer_of(recipe.tokenizer, recipe.seed), AnswerFilter()

    def rows(self, question: Question) -> Iterator[SyntheticRow]:
        """A row for each length that fits the question's articles."""
        gold = [item for title in _titles(question) for item in self._articles.gold[title]]
        stream = self._stream(question, gold)
        for length in self._recipe.lengths:
            budget = self._recipe.budget(length)
            fitted = self._mixer.context(SPEC, [question.query], question.id, gold, stream, budget)
            if fitted is None:
                self._counts[f"gold_over_budget_{length}"] += 1
                continue
            items, (n_tokens,) = fitted
            context = finish(items, n_tokens, budget, length, ran_out=len(items) == len(gold) + len(stream))
            of_answers = answer_flags(question.answers, question.answer_kind) + flags_of_gold(question, gold, True)
            flags = [*question.flags, *of_answers, *context.flags]
            self._counts.update(context.flags)
            yield SyntheticRow(
                self._recipe.config(length), "test", row_of(question, "qa", items, n_tokens, context.ratio, flags)
            )

    def _stream(self, question: Question, gold: Sequence[Passage]) -> list[Passage]:
        """Passages of other pages in the question's own order, without leaks."""
        own, words = {item.page_id for item in gold}, self._recipe.words
        drawn: list[Passage] = []
        for item in sorted(self._articles.others, key=lambda item: self._key(question, item)):
            if words <= 0:
                break
            if item.page_id not in own:
                words -= max(len(item.text.split()), len(item.text) // 10)
                drawn.append(item)
        reasons = drop_reasons(drawn, gold, (), question.text_answers, self._answers)
        self._counts.update(f"filler_{reason or 'kept'}" for reason in reasons)
        return [item for item, reason in zip(drawn, reasons, strict=True) if reason is None]

    def _key(self, question: Question, item: Passage) -> bytes:
        return order_key(self._recipe.seed, question.id, "filler", item.pid)


_articles = lru_cache(1)(Articles.read)


_WORDS = ("chunk_words", "lengths", "reserve", "seed")
STAGES = [
    Stage("questions", "read questions", 2, (), ("questions",), plan_questions, make_questions, leaves_out=True),
    Stage("articles", "read articles", 2, ("questions",), ("knowledge", *_WORDS), plan_articles, make_articles,
          leaves_out=True),
    Stage("rows", "build rows", 2, ("articles",), ("kind", "lengths", "reserve", "limit", "seed", "tokenizer"),
          plan_rows, make_rows, leaves_out=True),
    WRITE,
]  # fmt: skip
KIND = Pipeline(
    FramesRecipe,
    STAGES,
    sources,
    "The questions of [FRAMES](https://arxiv.org/abs/2409.12941) whose articles are all in the knowledge source, "
    "each over all passages of its articles and random passages of other pages.",
)
