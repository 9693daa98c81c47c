"""The paragraphs that a source provides with each question, alone and with paragraphs of other questions.

Gold are the paragraphs with a supporting fact, confounders the source's own distractors, which may contain the
answer: they are kept, and such rows are flagged. Paragraphs added to a longer context are random and contain none.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import Field, model_validator

from builders.answers import answerable
from builders.config import ConfigSpec, Length, Name, Source, Task
from builders.engine import Pipeline, Stage, Tick
from builders.errors import SetupError
from builders.filters import AnswerFilter, answer_flags, drop_reasons
from builders.gold import flags_of_gold
from builders.mix import finish, mixer_of
from builders.schema import SPLITS, Page, Passage, Question, Split
from builders.seeds import rng_for, shuffled
from builders.sources import GIVEN_READERS
from builders.sources.clean import clean
from builders.split import Splitter, checked_ids
from builders.synthetic.base import SyntheticRecipe, SyntheticRow, row_of
from builders.synthetic.rows import WRITE, read_passages, write_passages, write_rows
from builders.tasks import TaskSpec
from builders.work import Build, Counts, Shard

FAMILY = "given"  # of configs whose contexts are as their source provides them
FLAG = "answer_in_given"
FULL = "full"  # the config with only the source's paragraphs
QUESTIONS_PER_SHARD = 64
_PASSAGES = "passages.arrow"


class GivenRecipe(SyntheticRecipe):
    """The files of tasks that provide paragraphs with each question."""

    tasks: dict[Name, Task]
    lengths: list[Length] = Field([])

    @model_validator(mode="after")
    def _whole(self) -> "GivenRecipe":
        for name, task in self.tasks.items():
            if task.gold == "best":
                raise ValueError(f"tasks.{name}.gold: every supporting paragraph is gold here; write gold: all")
        return self

    def spec(self, task: str) -> TaskSpec:
        """A task as the manifest records it."""
        return self.tasks[task].spec(task)

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The tasks that it names."""
        return [self.spec(task) for task in self.tasks]

    @property
    def configs(self) -> dict[str, ConfigSpec]:
        """The paragraphs as given, then each length."""
        return {self.config(FULL): ConfigSpec(FAMILY), **super().configs}


def sources(recipe: GivenRecipe, base: Path) -> dict[str, Source]:
    """The files of every task; SetupError where a reader provides no paragraphs."""
    found: dict[str, Source] = {
        _place(name, file): one for name, task in recipe.tasks.items() for file, one in task.files.items()
    }
    for place, source in found.items():
        if source.reader not in GIVEN_READERS:
            known = ", ".join(GIVEN_READERS)
            raise SetupError(f"{place}.reader {source.reader!r} provides no paragraphs; there are {known}")
    return found


def _place(task: str, file: str) -> str:
    return f"tasks.{task}.files.{file}"


def plan_read(build: Build[GivenRecipe]) -> list[Shard]:
    """One shard, a folder, for each task."""
    return [Shard(task, task) for task in build.recipe.tasks]


def make_read(build: Build[GivenRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes a task's passages and the questions of its splits; repeated paragraphs are counted."""
    recipe, task, counts = build.recipe, build.recipe.tasks[shard.task], Counter[str]()
    reading = _Reading(counts)
    asked = {
        name: reading.read(source, build.inputs[_place(shard.task, name)].path, recipe.spec(shard.task))
        for name, source in task.files.items()
    }
    splitter = Splitter(recipe.seed)
    out.mkdir()
    for split in (split for split in SPLITS if split in task.take):
        take = task.take[split]
        questions = splitter.take(asked[take.source], min(take.n, recipe.limit or take.n), counts)
        counts[f"{split}_questions"] += len(questions)
        for part, start in enumerate(range(0, len(questions), QUESTIONS_PER_SHARD)):
            reading.write_questions(
                out / _questions_name(split, f"{part:05d}"), questions[start : start + QUESTIONS_PER_SHARD]
            )
    write_passages(out / _PASSAGES, reading.passages)
    return dict(+counts)


class _Reading:
    """The questions of a task and the distinct paragraphs provided with them."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self.passages: list[Passage] = []
        self._numbers: dict[str, int] = {}  # of a page's passage
        self._given: dict[str, list[int]] = {}  # passages by question

    def read(self, source: Source, path: Path, spec: TaskSpec) -> list[Question]:
        """The questions of a file."""
        before = self._counts["read"]
        questions = []
        for question, pages in GIVEN_READERS[source.reader](path, spec.name, self._counts):
            questions.append(question)
            self._given[question.id] = list(dict.fromkeys(self._number(page) for page in pages))
        checked_ids(questions, path.name)
        if source.rows and (read := self._counts["read"] - before) != source.rows:
            raise SetupError(f"{path} has {read} records, and the recipe says {source.rows}")
        return answerable(questions, spec, self._counts)

    def _number(self, page: Page) -> int:
        if page.page_id not in self._numbers:
            self._numbers[page.page_id] = number = len(self.passages)
            text = clean(page.paragraphs[1]).text.strip()
            self.passages.append(Passage(number, f"{page.page_id}:0", page.title, text))
        return self._numbers[page.page_id]

    def write_questions(self, path: Path, questions: Sequence[Question]) -> None:
        """Writes questions with the numbers of their passages and of the gold ones."""
        values = []
        for question in questions:
            evidence = {self._numbers.get(span.page_id) for span in question.provenance}
            given = self._given[question.id]
            gold = [number for number in given if number in evidence]
            values.append({"question": question._asdict(), "given": given, "gold": gold})
        path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")


class Asked(NamedTuple):
    """A question with the numbers of its passages, and of those that are gold."""

    question: Question
    given: list[int]
    gold: list[int]


def _asked(path: Path) -> list[Asked]:
    values = json.loads(path.read_text(encoding="utf-8"))
    return [
        Asked(
            Question(
                **{**value["question"], "provenance": [], "quotes": (), "flags": tuple(value["question"]["flags"])}
            ),
            value["given"],
            value["gold"],
        )
        for value in values
    ]


_passages = lru_cache(1)(read_passages)


def plan_rows(build: Build[GivenRecipe]) -> list[Shard]:
    """One shard for each part of the questions of a task and split: `hotpotqa-test-00000`."""
    return [
        Shard(f"{task}-{split}-{part:05d}", task, split, part=part)
        for task in build.recipe.tasks
        for split in SPLITS
        for part in range(len([*build.path("read", task).glob(_questions_name(split, "*"))]))
    ]


def _questions_name(split: str, part: str) -> str:
    return f"{split}-{part}.json"


def make_rows(build: Build[GivenRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the rows of a part of the questions; questions that do not fit a length are counted."""
    split, folder, counts = cast(Split, shard.split), build.path("read", shard.task), Counter[str]()
    maker = _Maker(build.recipe, split, _passages(folder / _PASSAGES), counts)
    write_rows(
        (row for asked in _asked(folder / _questions_name(split, f"{shard.part:05d}")) for row in maker.rows(asked)),
        out,
    )
    return dict(+counts)


class _Maker:
    """Builds the rows of one split."""

    def __init__(self, recipe: GivenRecipe, split: Split, passages: Sequence[Passage], counts: Counter[str]) -> None:
        self._recipe, self._split, self._passages, self._counts = recipe, split, passages, counts
        self._mixer, self._answers = mixer_of(recipe.tokenizer, recipe.seed), AnswerFilter()

    def rows(self, asked: Asked) -> Iterator[SyntheticRow]:
        """The question over its own paragraphs, and at every length that fits them all."""
        recipe, mixer, question = self._recipe, self._mixer, asked.question
        given, stream = self._own(asked), self._stream(asked)
        flags = self._flags(question, given)
        whole = mixer.ordered(question.id, given)
        ratio = float(any(item.role == "confounder" for item in given))
        kind = recipe.spec(question.task).kind
        n_tokens = mixer.count(recipe.spec(question.task), question.query, whole)
        yield self._made(FULL, row_of(question, kind, whole, n_tokens, ratio, flags))
        for length in recipe.lengths:
            budget = recipe.budget(length)
            fitted = mixer.context(recipe.spec(question.task), [question.query], question.id, given, stream, budget)
            if fitted is None:
                self._counts[f"given_over_budget_{length}"] += 1
                continue
            items, (n_tokens,) = fitted
            context = finish(items, n_tokens, budget, length, ran_out=len(items) == len(given) + len(stream))
            self._counts.update(context.flags)
            flagged = [*flags, *context.flags]
            yield self._made(length, row_of(question, kind, items, n_tokens, context.ratio, flagged))

    def _made(self, length: str, row: dict[str, Any]) -> SyntheticRow:
        return SyntheticRow(self._recipe.config(length), self._split, row)

    def _own(self, asked: Asked) -> list[Passage]:
        """Gold, then the distractors of the source that repeat neither gold nor each other."""
        gold = [self._passages[number]._replace(role="gold") for number in asked.gold]
        distractors = (number for number in asked.given if number not in asked.gold)
        others = [self._passages[number]._replace(role="confounder") for number in distractors]
        reasons = drop_reasons(others, gold, (), (), self._answers)
        self._counts.update(f"given_{reason}" for reason in reasons if reason)
        return [*gold, *(item for item, reason in zip(others, reasons, strict=True) if reason is None)]

    def _stream(self, asked: Asked) -> list[Passage]:
        """Paragraphs of other questions in the question's own order, without leaks."""
        recipe, passages, question = self._recipe, self._passages, asked.question
        words = max(map(recipe.budget, recipe.lengths), default=0) * 6 // 5  # at least one token per word
        own = set(asked.given)
        drawn: list[Passage] = []
        for row in shuffled(rng_for(recipe.seed, question.id, "random"), len(passages)):
            if words <= 0:
                break
            if row not in own:
                words -= len(passages[row].text.split())
                drawn.append(passages[row])
        given = [passages[row] for row in sorted(own)]
        reasons = drop_reasons(drawn, given, (), question.text_answers, self._answers)
        return [item for item, reason in zip(drawn, reasons, strict=True) if reason is None]

    def _flags(self, question: Question, given: Sequence[Passage]) -> list[str]:
        gold = [item for item in given if item.role == "gold"]
        extractive = self._recipe.spec(question.task).says.extractive
        flags = [*question.flags, *answer_flags(question.answers, question.answer_kind)]
        flags += flags_of_gold(question, gold, extractive)
        if any(self._answers.hits(question.text_answers, [item for item in given if item.role == "confounder"])):
            flags.append(FLAG)
            self._counts[FLAG] += 1
        return flags


ROWS = ("kind", "lengths", "reserve", "seed", "tokenizer")
STAGES = [
    Stage("read", "read questions", 2, (), ("tasks", "seed", "limit"), plan_read, make_read, leaves_out=True),
    Stage("rows", "build rows", 2, ("read",), ROWS, plan_rows, make_rows, leaves_out=True),
    WRITE,
]
KIND = Pipeline(
    GivenRecipe,
    STAGES,
    sources,
    "Questions over the paragraphs that their source provides (`given_full`): those with a supporting fact "
    "are gold, the source's own distractors are confounders. In `given_{length}` random paragraphs of other questions "
    "fill the context.",
)
