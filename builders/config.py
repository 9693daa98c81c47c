"""A recipe: everything that a built dataset depends on, read from YAML; unknown keys are errors."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from builders.errors import SetupError, shown
from builders.files import expanded, without_folders
from builders.schema import Split
from builders.tasks import KINDS, KindName, TaskSpec, check_labels, check_scorer, distinct_labels, labels_of

GoldMode = Literal["best", "all"]  # the one passage that carries most answers, or every one with evidence
NAME = re.compile(r"[a-z0-9][a-z0-9_]*")  # a task, split or config name becomes a path and a Hub config
_LONGEST_NAME = 100  # a file name, which has it and more, may have 255 bytes
_LENGTH = re.compile(r"([1-9][0-9]*)([km]?)")
_UNIT = {"": 1, "k": 2**10, "m": 2**20}


def tokens_of(length: str) -> int:
    """The number of tokens in a length label: `4k` is 4,096, `1m` is 1,048,576, `12000` is itself."""
    match = _LENGTH.fullmatch(length)
    if not match:
        raise SetupError(f"invalid length {length!r}; use a number of tokens, or a label such as 4k, 32k or 1m")
    return int(match[1]) * _UNIT[match[2]]


def _checked_name(name: str) -> str:
    if not NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise ValueError(f"invalid name {shown(name)}; use lower-case letters, digits and _, at most {_LONGEST_NAME}")
    return name


def length_from(least: int) -> Callable[[str], str]:
    """A validator of length labels with a minimum number of tokens."""

    def checked(length: str) -> str:
        try:
            tokens = tokens_of(length)
        except SetupError as error:
            raise ValueError(str(error)) from None
        if not least <= tokens <= 2**24:
            raise ValueError(f"length {shown(length)} is {tokens} tokens; use {least} to 16m")
        return length

    return checked


Name = Annotated[str, AfterValidator(_checked_name)]
Length = Annotated[str, BeforeValidator(str), AfterValidator(length_from(512))]


@cache
def public_sources() -> dict[str, dict[str, Any]]:
    """The public sources that a recipe may name, in the form of a recipe."""
    return yaml.safe_load((Path(__file__).parent / "sources" / "sources.yaml").read_text(encoding="utf-8"))


def known_source(name: str) -> dict[str, Any]:
    """A public source by its name; ValueError with all names where it is unknown."""
    if name not in public_sources():
        raise ValueError(f"unknown source {name!r}; there are {', '.join(public_sources())}")
    return public_sources()[name]


class Strict(BaseModel):
    """Settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(Strict):
    """Where records come from: a reader, and a local path or URL with its checksum; or the name of a public source."""

    reader: Name
    path: str | None = None  # local path, `bundled:NAME`, or an http(s) URL
    sha256: str | None = None
    rows: int | None = None
    licence: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, written: Any) -> Any:
        if not isinstance(written, str):
            return written
        found = known_source(written)
        if "kind" in found and "kind" not in cls.model_fields:
            raise ValueError(f"{written} has questions; name a source of pages")
        return found


Labels = Annotated[dict[str, str], BeforeValidator(labels_of), AfterValidator(distinct_labels)]


class QuestionSource(Source):
    """A source of questions; it may give their kind and, for claims, their labels."""

    kind: KindName | None = None
    labels: Labels = {}
    gold: GoldMode | None = None  # of its tasks

    @model_validator(mode="after")
    def _of_a_kind(self) -> "QuestionSource":
        if self.kind:
            check_labels(self.kind, self.labels)
        elif self.labels:
            raise ValueError("labels without a kind; add kind: fact")
        return self


class Take(Strict):
    """Which file a split is drawn from, and how many instances."""

    source: str
    n: int = Field(ge=0)


class Task(Strict):
    """A task: its kind, its files by name, its splits, and which passages are gold.

    Kind and labels default to those of its files, `scorer` to that of the kind. `source` is the source's name for the
    task.
    """

    kind: KindName | None = None
    labels: Labels = {}  # of claims: label of the source -> word in the prompt
    scorer: Annotated[Name, AfterValidator(check_scorer)] | None = None
    source: str | None = None
    files: dict[str, QuestionSource]
    take: dict[Split, Take]
    gold: GoldMode | None = None  # without it, as its sources say; see `builders.sources.gold_of`
    gold_without_answer: Literal["drop", "flag"] = "drop"  # a question whose gold passages contain none of its answers

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Task":
        if unknown := {take.source for take in self.take.values()} - set(self.files):
            raise ValueError(f"take names {sorted(unknown)}; its files are {sorted(self.files)}")
        described = self._described
        if not self.kind and not described:
            choices = ", ".join(f"{name} ({kind.says})" for name, kind in KINDS.items())
            raise ValueError(f"no kind; choose one: {choices}")
        if len({file.kind for file in described}) > 1 or any(file.labels != described[0].labels for file in described):
            raise ValueError("its files differ in kind or labels; give the task its own kind and labels")
        spec = self.spec("")
        check_labels(spec.kind, spec.labels)
        return self

    @property
    def _described(self) -> list[QuestionSource]:
        """The files that give the task's kind and labels, where it does not set them itself."""
        if self.kind and (self.labels or self.kind != "fact"):
            return []
        return [file for file in self.files.values() if file.kind and file.kind == (self.kind or file.kind)]

    def spec(self, name: str) -> TaskSpec:
        """Its manifest entry."""
        described = self._described
        kind = self.kind or described[0].kind or "qa"
        labels = self.labels or (described[0].labels if described else {})
        return TaskSpec(name, kind, labels, self.scorer or KINDS[kind].scorer, self.source or name)


class RetrieverSpec(Strict):
    """A retriever: its name in the dataset, its kind, and its settings."""

    kind: Name
    k: int = Field(200, ge=1, le=10_000)
    model: str | None = None  # dense and entity: a Hub id[@revision], a folder, or `bundled:NAME`
    query_model: str | None = None  # dense: a separate encoder for questions (DPR)
    dtype: Literal["float32", "bfloat16"] = "float32"  # not auto, which would mean another one on another machine
    min_score: float = 0.0  # entity: a link below it is NIL
    options: dict[str, float | int | str] = {}


class ConfigSpec(NamedTuple):
    """The manifest's facts about a config, apart from its files.

    `length` is a label and `tokens` its number, None where the source alone determines the context; `ratio` and `depth`
    are percentages, None where rows differ; `budget` is the limit on prompt tokens, `passages` that on passages.
    """

    family: str
    length: str | None = None
    tokens: int | None = None
    ratio: int | None = None
    depth: int | None = None
    budget: int | None = None
    passages: int | None = None


class AnyRecipe(Strict, ABC):
    """The fields of every recipe. The digest changes with anything that may change a byte of the dataset."""

    name: Name
    version: str = Field("1.0.0", pattern=r"^\d+\.\d+\.\d+$")
    seed: str = "v1"
    language: str = "en"
    tokenizer: str
    data: str | None = None  # the folder of relative paths; default: the recipe's own
    reserve: int | None = Field(None, ge=0)
    rows_per_file: int = Field(1000, ge=1)
    limit: int | None = Field(None, ge=1)

    @property
    @abstractmethod
    def configs(self) -> dict[str, ConfigSpec]:
        """All configs by name, in the manifest's order."""

    @abstractmethod
    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The tasks of all rows; `paths` are the recipe's input files by their place in it."""

    def config_of(self, family: str, length: str, ratio: int | None = None) -> ConfigSpec:
        """A config with contexts of one length."""
        return ConfigSpec(family, length, tokens_of(length), ratio, budget=self.budget(length))

    def budget(self, length: str) -> int:
        """The token budget of a rendered prompt: the length minus the reserve for the output."""
        tokens = tokens_of(length)
        reserve = self.reserve if self.reserve is not None else (1024 if tokens >= 8192 else 256)
        return tokens - reserve

    def base(self, folder: Path) -> Path:
        """The folder of relative paths, for a recipe in `folder`."""
        return folder if self.data is None else expanded(self.data)

    def completed(self, base: Path) -> Self:
        """The recipe with what it leaves to the files that are in the folder of relative paths."""
        return self

    def portable(self) -> dict[str, Any]:
        """The recipe without this machine's folders, for manifest and digests."""
        return without_folders(self.model_dump(mode="json", exclude={"data"}), set(Source.model_fields))


class Recipe(AnyRecipe):
    """A build from a knowledge source and annotations."""

    knowledge: Source
    tasks: dict[Name, Task]
    retrievers: dict[Name, RetrieverSpec] = {}
    runs: str | None = None  # a folder of `{retriever}.parquet` to use instead of retrieving
    chunk_words: int = Field(100, ge=20, le=1000)
    lengths: list[Length] = []
    ratios: list[Annotated[int, Field(ge=0, le=100)]] = [0, 25, 50, 75, 100]
    passages: int | None = Field(None, ge=2)  # the most in a context of a length and ratio, beside the budget
    loft: list[Length] = []

    def spec(self, task: str) -> TaskSpec:
        """A task as the manifest records it."""
        return self.tasks[task].spec(task)

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        """The tasks that it names."""
        return [self.spec(task) for task in self.tasks]

    @model_validator(mode="after")
    def _whole(self) -> "Recipe":
        if not self.lengths and not self.loft:
            raise ValueError("lengths and loft are both empty; give at least one length")
        for length in (*self.lengths, *self.loft):
            if self.budget(length) < 256:
                raise ValueError(
                    f"length {length} leaves {self.budget(length)} tokens after the reserve; use 256 or more"
                )
        if any(ratio > 0 for ratio in self.ratios) and self.lengths and not (self.retrievers or self.runs):
            raise ValueError("retrievers is empty; a ratio above 0 needs at least one")
        return self

    @property
    def configs(self) -> dict[str, ConfigSpec]:
        """All configs by name, ICR² first."""
        icr2 = {
            self.mixed(length, ratio): self.config_of("icr2", length, ratio)._replace(passages=self.passages)
            for length in self.lengths
            for ratio in self.ratios
        }
        return icr2 | {self.shared(length): self.config_of("loft", length) for length in self.loft}

    def mixed(self, length: str, ratio: int) -> str:
        """The name of the ICR² config of a length and confounding ratio."""
        return f"{length}_p{ratio}"

    def shared(self, length: str) -> str:
        """The name of the LOFT-style config of a length."""
        return f"loft_{length}"


def digest_of(value: Any) -> str:
    """sha256 over JSON in its order, as 64 hexadecimal digits: rows follow the order of tasks."""
    return sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()
