"""Reads the manifest of a dataset folder, of either format, as typed values whose names and paths are checked."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import AfterValidator, Field, model_validator

from builders import format1
from builders.errors import SetupError, shown
from builders.records import Count, Facts, Label, Name, Record, read_object
from builders.schema import INSTANCES, INSTANCES_1
from builders.sql import identifier
from builders.tasks import TaskSpec
from builders.typed import typed

FORMAT = "icr2-manifest/2"
_AGAIN = "build the dataset again"
PIPELINE_FAMILIES = ("icr2", "loft")  # families built from a knowledge source
_SPLIT = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*", re.ASCII)  # split names that datasets accepts
_PART = "[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}"
_FILE = re.compile(rf"(?:{_PART}/)*{_PART}\.parquet")


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts or "\\" in path or parts.as_posix() != path:
        raise ValueError("a relative path that never leads out of the folder")
    if not _FILE.fullmatch(path):
        raise ValueError("the path of a .parquet file, of letters, digits and . _ -, and no hidden folder")
    return path


def _named_split(name: str) -> str:
    if not _SPLIT.fullmatch(name) or len(name) > 100:
        raise ValueError("letters, digits and _, with single dots between them")
    return name


Size = Annotated[int, Field(ge=0, le=2**31 - 1)]
SplitName = Annotated[str, AfterValidator(_named_split)]  # ours are those of `builders.schema.SPLITS`


ALL_CONFIGS = "all_configs"  # the view of all rows


def passages_view(config: str) -> str:
    """The name of the view of a config's passages."""
    return f"{config}_passages"


class File(Record):
    """A Parquet file: its path in the folder, its size and its digest."""

    path: Annotated[str, AfterValidator(_inside)]
    rows: Count
    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Config(Record):
    """A config's facts about its rows, and its files by split.

    `family` is icr2, loft, or the kind of a synthetic dataset; `length` is the label of a context length, `tokens` its
    number, both null where the source alone determines the context; `ratio` and `depth` are percentages; `budget` is
    the limit on tokens of a rendered prompt, and `passages` that on passages beside it.
    """

    family: Name
    length: Label | None = None
    tokens: Size | None = None
    ratio: Annotated[int, Field(ge=0, le=100)] | None = None
    depth: Annotated[int, Field(ge=0, le=100)] | None = None
    budget: Size | None = None
    passages: Size | None = None
    files: Annotated[dict[SplitName, Annotated[list[File], Field(min_length=1)]], Field(min_length=1)]

    @property
    def rows(self) -> int:
        """The rows of all splits."""
        return sum(file.rows for files in self.files.values() for file in files)

    @property
    def synthetic(self) -> bool:
        """Whether its rows are those of a synthetic dataset, without retrievers."""
        return self.family not in PIPELINE_FAMILIES


class Tokenizer(Record):
    """The tokenizer that counts lengths."""

    name: Label
    sha256: str = ""


class Input(Record):
    """An input file of the build: its digest, name and rows, and the licence that the recipe states for it."""

    sha256: str = ""
    file: str | None = None
    rows: Count | None = None
    licence: str | None = None


def _distinct(configs: dict[str, Config]) -> dict[str, Config]:
    taken = {ALL_CONFIGS, *(passages_view(name) for name in configs)} & configs.keys()
    if taken:
        raise ValueError(f"other names than those of views; rename {', '.join(sorted(taken))}")
    paths = [file.path for config in configs.values() for files in config.files.values() for file in files]
    if len(set(paths)) < len(paths):
        raise ValueError(f"each file once; found {max(paths, key=paths.count)} several times")
    return configs


class _Take(Facts):
    n: Count


class _Task(Facts):
    gold: Literal["best", "all"] | None = None
    take: dict[Label, _Take] = Field(default={})


class _Retriever(Facts):
    kind: str
    k: Count = 200
    model: str | None = None


class _Recipe(Facts):
    """What cards and summaries read of a recipe, which may be of an earlier version."""

    kind: str | None = None
    limit: Count | None = None
    tasks: dict[Name, _Task] = Field(default={})
    retrievers: dict[Name, _Retriever] = Field(default={})
    runs: str | None = None
    chunk_words: Count | None = None
    world: Count | None = None
    confounders: Count | None = None
    fragment: Count | None = None
    controls: Count | None = None


class _WithRecipe(Facts):
    recipe: _Recipe = _Recipe()


class Manifest(Record):
    """A dataset as its manifest describes it; `sha256` is the digest of the file, `format` the one that it declares."""

    format: Literal["icr2-manifest/1", "icr2-manifest/2"]
    name: Name
    version: Label
    language: Label = "en"
    tasks: dict[Name, TaskSpec]
    configs: Annotated[dict[Name, Config], Field(min_length=1), AfterValidator(_distinct)]
    recipe: dict[str, Any] = Field(default={})
    recipe_digest: str = ""
    inputs: dict[Label, Input] = Field(default={})
    tokenizer: Tokenizer | None = None
    retrievers: dict[Name, dict[str, str | bool]] = Field(default={})
    counts: dict[Label, dict[Label, Count]] = Field(default={})
    written_with: dict[str, str] = Field(default={})
    sha256: str

    @model_validator(mode="after")
    def _labels_where_they_are_asked_for(self) -> "Manifest":
        for task in self.tasks.values():
            if (task.kind == "fact") != bool(task.labels):
                wanted = (
                    "its labels, since its kind is fact" if task.kind == "fact" else "none, since its kind is not fact"
                )
                raise ValueError(f"tasks.{task.name}.labels: found {dict(task.labels)}, wanted {wanted}")
        return self

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of its rows."""
        return INSTANCES_1 if self.is_format_1 else INSTANCES

    @property
    def is_format_1(self) -> bool:
        """Whether its rows are of format 1, which `builders.format1` upgrades."""
        return self.format == format1.FORMAT

    @property
    def splits(self) -> list[str]:
        """All splits, in the order of the configs."""
        return list(dict.fromkeys(split for config in self.configs.values() for split in config.files))

    def config(self, name: str) -> Config:
        """A config by its name; SetupError with all names where it is unknown."""
        if name not in self.configs:
            raise SetupError(f"no config {name!r} in {self.name}; there are {', '.join(self.configs)}")
        return self.configs[name]

    def task(self, name: str) -> TaskSpec:
        """A task by its name; SetupError with all names where it is unknown."""
        if name not in self.tasks:
            raise SetupError(f"no task {name!r} in {self.name}; there are {', '.join(self.tasks)}")
        return self.tasks[name]

    def tokenizer_name(self) -> str:
        """The name of the tokenizer; SetupError if the manifest has none."""
        if self.tokenizer is None:
            raise SetupError(f"the manifest of {self.name} names no tokenizer; build the dataset again")
        return self.tokenizer.name

    def rows_sql(self, source: str, config: str, also: Sequence[str] = ()) -> str:
        """SQL of a config's rows in format 2, with the columns `also`; `source` is the SQL that reads its files."""
        if not self.is_format_1:
            return f"(SELECT {', '.join([*map(identifier, INSTANCES.names), *also])} FROM {source})"
        return f"({format1.select(source, config, self.configs[config].family, self.tasks, also)})"

    def path_of(self, folder: Path, file: File) -> Path:
        """The local path of a file; SetupError where a link leads out of the folder."""
        path = folder / file.path
        if not any(path.resolve().is_relative_to(root) for root in _roots(folder)):
            raise SetupError(f"{path} is a link to {path.resolve()}; wanted a file in {folder}")
        return path


def _roots(folder: Path) -> list[Path]:
    """Where a dataset's files may be: in its folder, or in the Hub's cache, whose snapshots are links to blobs."""
    folder = folder.resolve()
    cached = folder.parent.name == "snapshots"
    return [folder, *([folder.parent.parent / "blobs"] if cached else [])]


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a dataset folder; SetupError names the wrong field, or what to run if there is none."""
    path = folder / "manifest.json"
    if not path.exists():
        raise SetupError(f"{folder} is not a dataset: it has no manifest.json; run: icr2 build RECIPE --out {folder}")
    content, values = read_object(path, _AGAIN)
    if (found := values.get("format")) not in (FORMAT, format1.FORMAT):
        raise SetupError(f"{path}: format: found {shown(found)}, wanted {FORMAT} or {format1.FORMAT}; {_AGAIN}")
    if found == format1.FORMAT:
        typed(values, format1.Values, path, _AGAIN)
        values = format1.upgraded(values, folder)
    typed(values, _WithRecipe, path, _AGAIN)
    values = {**values, "sha256": sha256(content).hexdigest()}
    return typed(_with_names(values), Manifest, path, _AGAIN)


def _with_names(values: dict[str, Any]) -> dict[str, Any]:
    """The values with the name of each task in it."""
    tasks = values.get("tasks")
    if not isinstance(tasks, dict):
        return values
    named = {name: {**task, "name": name} if isinstance(task, dict) else task for name, task in tasks.items()}
    return {**values, "tasks": named}
