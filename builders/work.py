"""The work folder of a build: where each stage's shards are, and how they are written atomically."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import pyarrow as pa
from filelock import FileLock, Timeout

from builders.config import AnyRecipe, Source
from builders.corpus import Corpus
from builders.errors import SetupError
from builders.files import read_table, write_json
from builders.schema import Split

Counts = dict[str, int]
R = TypeVar("R", bound=AnyRecipe)


class Input(NamedTuple):
    """A source with its local file, checked, and the file's digest."""

    source: Source
    path: Path
    sha256: str
    state: tuple[int, ...] = ()  # of the file when its digest was taken

    def check(self) -> None:
        """SetupError where the file is no longer the one whose digest was taken."""
        if self.state and state_of(self.path) != self.state:
            raise SetupError(f"{self.path} changed while it was read; rerun the same command when it is complete")


def state_of(path: Path) -> tuple[int, ...]:
    """What changes with every write to a file: its number, its size, and the times of its content and of its entry."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


class Shard(NamedTuple):
    """A piece of a stage's work: the name of its file or folder, and what it covers, where that is one thing."""

    name: str
    task: str = ""
    split: Split | None = None
    config: str = ""
    length: str = ""
    retriever: str = ""
    part: int = 0  # among the parts of what it covers
    parts: int = 1


@dataclass(frozen=True)
class Build(Generic[R]):
    """The input of every stage: the recipe, the folders, the digest of each stage, and the input files."""

    recipe: R
    base: Path  # the folder of relative paths in the recipe
    work: Path
    digests: dict[str, str]
    threads: int = 1  # for stages that run alone on all cores
    inputs: Mapping[str, Input] = field(default_factory=dict)  # by their place in the recipe
    unchanged: bool = False  # once finished: the same dataset was in the output folder already

    def folder(self, stage: str) -> Path:
        """The folder of a stage's shards, specific to its digest."""
        return self.work / "stages" / f"{stage}-{self.digests[stage][:16]}"

    def shards(self, stage: str) -> list[Shard]:
        """A finished stage's shards, in order."""
        return read_shards(self.folder(stage) / "done.json")

    def path(self, stage: str, shard: str) -> Path:
        """A finished shard by its name: a file or a folder."""
        return self.folder(stage) / shard

    def paths(self, stage: str) -> list[Path]:
        """All finished shards of a stage, in order."""
        return [self.path(stage, shard.name) for shard in self.shards(stage)]

    def tables(self, stage: str) -> Iterator[pa.Table]:
        """A finished stage's shards as memory-mapped tables, in order."""
        return map(read_table, self.paths(stage))

    def counts(self, stage: str) -> Counts:
        """A finished stage's counts, summed over its shards."""
        total: Counts = {}
        for path in self.paths(stage):
            for key, value in json.loads(mark_of(path).read_text()).items():
                total[key] = total.get(key, 0) + value
        return total

    @property
    def cache(self) -> Path:
        """The folder of content-addressed files, shared by all recipes of this work folder."""
        return self.work / "cache"

    @cached_property
    def corpus(self) -> Corpus:
        """All passages, in corpus order."""
        parts = sorted(self.path("pages", "all").glob("*.arrow"))
        return Corpus(parts, self.paths("chunk"), self.path("index", "pages"))


def write_shards(path: Path, shards: Sequence[Shard]) -> None:
    """Writes the list of a stage's shards, once all of them are in place."""
    write_json(path, {"shards": [shard._asdict() for shard in shards]})


def read_shards(path: Path) -> list[Shard]:
    """The list that `write_shards` wrote; an earlier version wrote only names, for stages that need no more."""
    shards = json.loads(path.read_text())["shards"]
    return [Shard(shard) if isinstance(shard, str) else Shard(**shard) for shard in shards]


def mark_of(path: Path) -> Path:
    """The marker file of a complete shard, with its counts."""
    return path.with_name(path.name + ".done.json")


@contextmanager
def only_one(work: Path) -> Iterator[None]:
    """Locks a work folder for one build at a time; the lock is released when the process ends, however it ends."""
    lock = FileLock(work / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SetupError(f"another build is running in {work}; wait for it, or choose another --work") from None
    try:
        yield
    except Exception as error:
        if not (work / ".lock").exists():
            raise SetupError(
                f"the work folder {work} was removed during the build; run the same command again"
            ) from error
        raise
    finally:
        lock.release()
