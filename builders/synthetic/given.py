"""The paragraphs that a source gives with each question, alone and among paragraphs of other questions.

Gold are the paragraphs with a supporting fact, confounders the source's own distractors, which may hold the answer: the
source is kept as it is, and such rows are flagged. The paragraphs added to a longer context are random and hold none.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from builders.answers import answerable
from builders.config import ConfigSpec, Length, Name, Source, Task
from builders.errors import SetupError
from builders.filters import AnswerFilter, Text, answer_flags, drop_reasons
from builders.mix import Item, Mixer, finish
from builders.schema import SPLITS, Page, Question
from builders.seeds import rng_for, shuffled
from builders.sources import GIVEN_READERS
from builders.sources.clean import clean
from builders.split import Splitter, checked_ids
from builders.synthetic.base import Kind, Made, MadeRecipe, row_of
from builders.tasks import TaskSpec
from builders.tokens import token_counter

FLAG = "answer_in_given"
FULL = "full"  # the config of the source's paragraphs alone


class GivenRecipe(MadeRecipe):
    """The files of tasks that bring paragraphs with each question."""

    tasks: dict[Name, Task]
    lengths: list[Length] = Field([])

    @model_validator(mode="after")
    def _whole(self) -> "GivenRecipe":
        for name, task in self.tasks.items():
            if task.gold != "all":
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
        return {self.config(FULL): ConfigSpec(self.kind), **super().configs}


def inputs(recipe: GivenRecipe, base: Path) -> dict[str, Source]:
    """The files of every task; SetupError where a reader gives no paragraphs."""
    sources: dict[str, Source] = {
        f"tasks.{name}.files.{file}": source
        for name, task in recipe.tasks.items()
        for file, source in task.files.items()
    }
    for place, source in sources.items():
        if source.reader not in GIVEN_READERS:
            known = ", ".join(GIVEN_READERS)
            raise SetupError(f"{place}.reader {source.reader!r} gives no paragraphs with a question; there are {known}")
    return sources


def make(recipe: GivenRecipe, paths: Mapping[str, Path], counts: Counter[str]) -> Iterator[Made]:
    """The rows of every task and split; what the source repeats and what a length cannot hold is counted."""
    mixer = Mixer(token_counter(recipe.tokenizer), recipe.seed)
    for name, task in recipe.tasks.items():
        source = _Given(recipe, mixer, counts)
        asked = {file: source.read(one, paths[f"tasks.{name}.files.{file}"], name) for file, one in task.files.items()}
        splitter = Splitter(recipe.seed)
        for split in (split for split in SPLITS if split in task.take):
            take = task.take[split]
            questions = splitter.take(asked[take.source], min(take.n, recipe.limit or take.n), counts)
            counts[f"{split}_questions"] += len(questions)
            for question in questions:
                for config, row in source.rows(question):
                    yield Made(config, split, row)


class _Given:
    """The questions of a task and every distinct paragraph that comes with one of them."""

    def __init__(self, recipe: GivenRecipe, mixer: Mixer, counts: Counter[str]) -> None:
        self._recipe, self._mixer, self._counts = recipe, mixer, counts
        self._passages: list[Item] = []
        self._numbers: dict[str, int] = {}  # of a page's passage
        self._given: dict[str, list[str]] = {}  # pages by question
        self._answers = AnswerFilter()

    def read(self, source: Source, path: Path, task: str) -> list[Question]:
        """The questions of a file."""
        before = self._counts["read"]
        questions = []
        for question, pages in GIVEN_READERS[source.reader](path, task, self._counts):
            questions.append(question)
            self._given[question.id] = [page.page_id for page in pages]
            for page in pages:
                self._keep(page)
        checked_ids(questions, path.name)
        if source.rows and (read := self._counts["read"] - before) != source.rows:
            raise SetupError(f"{path} has {read} records, and the recipe says {source.rows}")
        return answerable(questions, self._recipe.spec(task), self._counts)

    def _keep(self, page: Page) -> None:
        if page.page_id not in self._numbers:
            self._numbers[page.page_id] = number = len(self._passages)
            text = clean(page.paragraphs[1]).text.strip()
            self._passages.append(Item(number, f"{page.page_id}:0", page.title, text, "random"))

    def rows(self, question: Question) -> Iterator[tuple[str, dict[str, Any]]]:
        """The question over its own paragraphs, and at every length that holds them all."""
        recipe, mixer = self._recipe, self._mixer
        given, stream = self._own(question), self._stream(question)
        flags = self._flags(question, given)
        whole = mixer.ordered(question.id, given)
        ratio = float(any(item.role == "confounder" for item in given))
        kind = recipe.spec(question.task).kind
        n_tokens = mixer.count(recipe.spec(question.task), question.query, whole)
        yield recipe.config(FULL), row_of(question, kind, whole, n_tokens, ratio, flags)
        for length in recipe.lengths:
            budget = recipe.budget(length)
            fitted = mixer.context(recipe.spec(question.task), [question.query], question.id, given, stream, budget)
            if fitted is None:
                self._counts[f"given_over_budget_{length}"] += 1
                continue
            items, (n_tokens,) = fitted
            context = finish(items, n_tokens, budget, length, ran_out=len(items) == len(given) + len(stream))
            self._counts.update(context.flags)
            yield (
                recipe.config(length),
                row_of(question, kind, items, n_tokens, context.ratio, [*flags, *context.flags]),
            )

    def _own(self, question: Question) -> list[Item]:
        """Gold, then the distractors of the source that repeat neither gold nor one another."""
        evidence = {span.page_id for span in question.provenance}
        passages = {page_id: self._passages[self._numbers[page_id]] for page_id in self._given[question.id]}
        gold = [item._replace(role="gold") for page_id, item in passages.items() if page_id in evidence]
        others = [item._replace(role="confounder") for page_id, item in passages.items() if page_id not in evidence]
        reasons = drop_reasons([*map(_text, others)], [*map(_text, gold)], (), (), self._answers)
        self._counts.update(f"given_{reason}" for reason in reasons if reason)
        return [*gold, *(item for item, reason in zip(others, reasons, strict=True) if reason is None)]

    def _stream(self, question: Question) -> list[Item]:
        """Paragraphs of other questions in an order of the question's own, without those that give something away."""
        recipe, passages = self._recipe, self._passages
        words = max(map(recipe.budget, recipe.lengths), default=0) * 6 // 5  # no tokenizer of use makes fewer tokens
        own = {self._numbers[page_id] for page_id in self._given[question.id]}
        drawn: list[Item] = []
        for row in shuffled(rng_for(recipe.seed, question.id, "random"), len(passages)):
            if words <= 0:
                break
            if row not in own:
                words -= len(passages[row].text.split())
                drawn.append(passages[row])
        answers = question.answers if question.answer_kind == "text" else []
        given = [_text(passages[row]) for row in sorted(own)]
        reasons = drop_reasons([*map(_text, drawn)], given, (), answers, self._answers)
        return [item for item, reason in zip(drawn, reasons, strict=True) if reason is None]

    def _flags(self, question: Question, given: Sequence[Item]) -> list[str]:
        flags = answer_flags(question.answers, question.answer_kind)
        answers = question.answers if question.answer_kind == "text" else []
        if any(self._answers.hits(answers, [_text(item) for item in given if item.role == "confounder"])):
            flags.append(FLAG)
            self._counts[FLAG] += 1
        return flags


def _text(item: Item) -> Text:
    return Text(item.row, item.title, item.text)


KIND = Kind(
    GivenRecipe,
    make,
    inputs,
    says="Questions over the paragraphs that their source gives with them (`given_full`): those with a supporting fact "
    "are gold, the source's own distractors are confounders. In `given_{length}` random paragraphs of other questions "
    "fill the context.",
)
