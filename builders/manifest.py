"""Reads the manifest of a dataset folder, of either format, as typed values whose names and paths are checked."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from builders import format1
from builders.config import NAME
from builders.errors import SetupError
from builders.schema import INSTANCES, INSTANCES_1
from builders.tasks import TaskSpec

FORMAT = "icr2-manifest/2"
PIPELINE_FAMILIES = ("icr2", "loft")  # families built from a knowledge source


_SPLIT = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*", re.ASCII)  # split names that datasets accepts


def _inside(path: str) -> str:
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts or "\\" in path or parts.as_posix() != path:
        raise ValueError("a relative path that never leads out of the folder")
    return path


def _named(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError("lower-case letters, digits and _")
    return name


def _named_split(name: str) -> str:
    if not _SPLIT.fullmatch(name):
        raise ValueError("letters, digits and _, with single dots between them")
    return name


SplitName = Annotated[str, AfterValidator(_named_split)]  # ours are those of `builders.schema.SPLITS`
Name = Annotated[str, AfterValidator(_named)]  # of a config, task or family: a part of paths, views and Hub configs


class Record(BaseModel):
    """A part of a manifest; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class File(Record):
    """A Parquet file: its path in the folder, its size and its digest."""

    path: Annotated[str, AfterValidator(_inside)]
    rows: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: str


class Config(Record):
    """A config's facts about its rows, and its files by split.

    `family` is icr2, loft, or the kind of a synthetic dataset; `length` is the label of a context length, `tokens` its
    number, both null where the source alone determines the context; `ratio` and `depth` are percentages; `budget` is
    the limit on tokens of a rendered prompt.
    """

    family: Name
    length: str | None = None
    tokens: int | None = None
    ratio: Annotated[int, Field(ge=0, le=100)] | None = None
    depth: Annotated[int, Field(ge=0, le=100)] | None = None
    budget: int | None = None
    files: dict[SplitName, Annotated[list[File], Field(min_length=1)]]

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

    name: str
    sha256: str = ""


class Manifest(Record):
    """A dataset as its manifest describes it; `sha256` is the digest of the file, `format` the one that it declares."""

    format: Literal["icr2-manifest/1", "icr2-manifest/2"]
    name: str
    version: str
    language: str = "en"
    tasks: dict[Name, TaskSpec]
    configs: dict[Name, Config]
    recipe: dict[str, Any] = {}
    recipe_digest: str = ""
    inputs: dict[str, dict[str, Any]] = {}
    tokenizer: Tokenizer | None = None
    retrievers: dict[str, dict[str, Any]] = {}
    counts: dict[str, dict[str, int]] = {}
    written_with: dict[str, str] = {}
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
            return source
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
    path, content, values = _read(folder)
    try:
        if values["format"] == format1.FORMAT:
            values = format1.upgraded(values, folder)
        values = {**values, "sha256": sha256(content).hexdigest()}
        return Manifest.model_validate(_with_names(values))
    except ValidationError as error:
        raise SetupError(f"{path}: {_first_problem(error)}; build the dataset again") from None


def _read(folder: Path) -> tuple[Path, bytes, dict[str, Any]]:
    path = folder / "manifest.json"
    try:
        content = path.read_bytes()
        values = json.loads(content)
    except (FileNotFoundError, NotADirectoryError):
        raise SetupError(
            f"{folder} is not a dataset: it has no manifest.json; run: icr2 build RECIPE --out {folder}"
        ) from None
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({error}); build the dataset again") from None
    if not isinstance(values, dict):
        raise SetupError(f"{path}: found {type(values).__name__}, wanted an object; build the dataset again")
    if values.get("format") not in (FORMAT, format1.FORMAT):
        found = values.get("format")
        raise SetupError(
            f"{path}: format: found {found!r}, wanted {FORMAT} or {format1.FORMAT}; build the dataset again"
        )
    return path, content, values


def _with_names(values: dict[str, Any]) -> dict[str, Any]:
    """The values with the name of each task in it."""
    tasks = values.get("tasks")
    if not isinstance(tasks, dict):
        return values
    named = {name: {**task, "name": name} if isinstance(task, dict) else task for name, task in tasks.items()}
    return {**values, "tasks": named}


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    field = ".".join(str(part) for part in problem["loc"] if part != "[key]")
    match problem["type"]:
        case "missing":
            return f"{field}: found nothing, wanted a value"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"{field}: unknown field; remove it"
        case "value_error" if not field:
            return str(problem["ctx"]["error"])
        case "value_error":
            return f"{field}: found {_shown(problem['input'])}, wanted {problem['ctx']['error']}"
    wanted = problem["msg"].removeprefix("Input should be ")
    return f"{field}: found {_shown(problem['input'])}, wanted {wanted}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
