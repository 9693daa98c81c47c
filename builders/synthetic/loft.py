"""LOFT as it is distributed: each task and length has one corpus, which is the context of all its queries.

Gold are a query's own passages. The others are as they were given, the gold of other queries among them: they are
confounders that may contain the answer, and such rows are flagged.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from pydantic import Field

from builders.answers import answerable
from builders.config import ConfigSpec, Labels, Length, Name, Source, Strict, tokens_of
from builders.engine import Pipeline, Stage, Tick
from builders.errors import SetupError
from builders.filters import AnswerFilter, answer_flags
from builders.gold import flags_of_gold
from builders.mix import Mixer, mixer_of
from builders.schema import Passage, Question, Split
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.sources.clean import clean
from builders.split import checked_ids
from builders.synthetic.base import SyntheticRecipe, SyntheticRow, row_of
from builders.synthetic.given import FAMILY, FLAG
from builders.synthetic.rows import WRITE, write_rows
from builders.tasks import KINDS, KindName, TaskSpec
from builders.work import Build, Counts, Shard

READER = "loft"
CORPUS = "corpus.jsonl"
QUERIES: dict[Split, str] = {
    "test": "test_queries.jsonl",
    "validation": "dev_queries.jsonl",
    "train": "few_shot_queries.jsonl",
}


class LoftTask(Strict):
    """A task: its kind, and the files of each length that has a folder."""

    kind: KindName
    labels: Labels = Field({})
    scorer: Name | None = None
    files: dict[Length, dict[str, Source]] = Field({})

    def spec(self, name: str) -> TaskSpec:
        """Its manifest entry."""
        return TaskSpec(name, self.kind, self.labels, self.scorer or KINDS[self.kind].scorer, name)


class LoftRecipe(SyntheticRecipe):
    """The tasks of LOFT's folder; tasks and lengths that it lacks are left out when the recipe is read."""

    folder: str = "rag"
    licence: str | None = None
    tasks: dict[Name, LoftTask]
    lengths: list[Length] = Field([])  # those to build; none means all

    def completed(self, base: Path) -> "LoftRecipe":
        """The recipe with the files that are there; SetupError where there are none, or of a task that it lacks."""
        folder = base / self.folder
        found = {name: files for name in self.tasks if (files := self._files(folder / name))}
        if not found:
            asked = " or ".join(self.lengths) or "32k"
            wanted = f"{folder / next(iter(self.tasks), 'nq')}/{asked}/{CORPUS}"
            raise SetupError(
                f"no task of the recipe in {folder}, wanted files such as {wanted}; give --set data=FOLDER"
            )
        if unknown := sorted({path.parts[-3] for path in folder.glob(f"*/*/{CORPUS}")} - set(self.tasks)):
            raise SetupError(f"{folder}: {unknown[0]} is no task of the recipe; add --set tasks.{unknown[0]}.kind=qa")
        tasks = {name: self.tasks[name].model_copy(update={"files": files}) for name, files in found.items()}
        lengths = sorted({length for files in found.values() for length in files}, key=tokens_of)
        return self.model_copy(update={"tasks": tasks, "lengths": lengths})

    def _files(self, folder: Path) -> dict[str, dict[str, Source]]:
        """The corpus and the queries of each length of a task; SetupError for a corpus without queries."""
        found = {}
        for path in sorted(folder.glob(f"*/{CORPUS}")):
            length = path.parent.name
            if not _is_length(length) or (self.lengths and length not in self.lengths):
                continue
            files: dict[str, str] = {split: name for split, name in QUERIES.items() if path.with_name(name).is_file()}
            if not files:
                raise SetupError(f"{path.parent} has no queries, wanted {' or '.join(QUERIES.values())}")
            place = f"{self.folder}/{folder.name}/{length}"
            found[length] = {
                part: Source(reader=READER, path=f"{place}/{name}", licence=self.licence)
                for part, name in {"corpus": CORPUS, **files}.items()
            }
        return found

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The tasks that it names."""
        return [task.spec(name) for name, task in self.tasks.items()]

    @property
    def configs(self) -> dict[str, ConfigSpec]:
        """One config for each length, whose contexts have no budget."""
        return {self.config(length): ConfigSpec(FAMILY, length, tokens_of(length)) for length in self.lengths}


def _is_length(label: str) -> bool:
    with suppress(SetupError):
        return tokens_of(label) > 0
    return False


def sources(recipe: LoftRecipe, base: Path) -> dict[str, Source]:
    """The corpus and the queries of every task and length."""
    return {
        _place(name, length, part): source
        for name, task in recipe.tasks.items()
        for length, files in task.files.items()
        for part, source in files.items()
    }


def _place(task: str, length: str, part: str) -> str:
    return f"tasks.{task}.{length}.{part}"


def plan_rows(build: Build[LoftRecipe]) -> list[Shard]:
    """One shard for each task, length and split."""
    return [
        Shard(f"{name}-{length}-{split}", name, split, build.recipe.config(length), length)
        for name, task in build.recipe.tasks.items()
        for length, files in task.files.items()
        for split in QUERIES
        if split in files
    ]


def make_rows(build: Build[LoftRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the rows of a split; its queries whose gold passages are not in the corpus are counted."""
    recipe, split, counts = build.recipe, cast(Split, shard.split), Counter[str]()
    spec = recipe.tasks[shard.task].spec(shard.task)
    corpus = _corpus(build.inputs[_place(shard.task, shard.length, "corpus")].path)
    path = build.inputs[_place(shard.task, shard.length, split)].path
    read = list(checked_ids(list(QUESTION_READERS[READER](path, shard.task, counts)), path.name))
    asked = answerable(read, spec, counts)[: recipe.limit]
    counts[f"{split}_questions"] += len(asked)
    context = _Context(corpus, f"{shard.task}-{shard.length}", mixer_of(recipe.tokenizer, recipe.seed), counts)
    write_rows(_rows(asked, context, spec, shard, tick), out)
    return dict(+counts)


def _rows(
    asked: Sequence[Question], context: "_Context", spec: TaskSpec, shard: Shard, tick: Tick
) -> Iterator[SyntheticRow]:
    for number, question in enumerate(asked, start=1):
        if row := context.row(question, spec):
            yield SyntheticRow(shard.config, cast(Split, shard.split), row)
        tick(number, len(asked))


@lru_cache(1)
def _corpus(path: Path) -> list[Passage]:
    """The passages of a corpus, in its order."""
    return [
        Passage(number, f"{page.page_id}:0", page.title, clean(page.paragraphs[1]).text.strip(), "confounder")
        for number, page in enumerate(PAGE_READERS[READER](path, Counter()))
    ]


class _Context:
    """A corpus as the context of every query."""

    def __init__(self, corpus: Sequence[Passage], name: str, mixer: Mixer, counts: Counter[str]) -> None:
        self._corpus, self._name, self._mixer, self._counts = corpus, name, mixer, counts
        self._numbers = {passage.page_id: passage.row for passage in corpus}
        self._answers = AnswerFilter(len(corpus) + 1)

    def row(self, question: Question, spec: TaskSpec) -> dict[str, Any] | None:
        """The row of a question; None where a gold passage is missing."""
        gold = {self._numbers.get(span.page_id) for span in question.provenance}
        if None in gold:
            self._counts["missing_page"] += 1
            return None
        items = [passage._replace(role="gold") if passage.row in gold else passage for passage in self._corpus]
        n_tokens = self._mixer.count(spec, question.query, items)
        ratio = float(len(gold) < len(items))
        row = row_of(question, spec.kind, items, n_tokens, ratio, self._flags(question, spec, items))
        return {**row, "context_id": self._name}

    def _flags(self, question: Question, spec: TaskSpec, items: Sequence[Passage]) -> list[str]:
        gold = [item for item in items if item.role == "gold"]
        flags = [*question.flags, *answer_flags(question.answers, question.answer_kind)]
        flags += flags_of_gold(question, gold, spec.says.extractive)
        held = self._answers.hits(question.text_answers, items)
        if any(found for found, item in zip(held, items, strict=True) if item.role != "gold"):
            flags.append(FLAG)
            self._counts[FLAG] += 1
        return flags


ROWS = ("kind", "tasks", "lengths", "limit", "tokenizer", "seed")
STAGES = [Stage("rows", "build rows", 1, (), ROWS, plan_rows, make_rows, leaves_out=True), WRITE]
KIND = Pipeline(
    LoftRecipe,
    STAGES,
    sources,
    "The tasks of [LOFT](https://arxiv.org/abs/2406.13121) as it is distributed: every query of a task has the task's "
    "whole corpus of that length as its context, in the order of the corpus. Splits: LOFT's `dev` is `validation`, its "
    "few-shot queries are `train`.",
)
