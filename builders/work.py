"""The work folder of a build: where each stage's shards lie, and how they get there whole."""

import json
from collections.abc import Iterator, Mapping
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
from builders.files import read_table

Counts = dict[str, int]
R = TypeVar("R", bound=AnyRecipe)


class Input(NamedTuple):
    """A source with its local file, checked, and the file's digest."""

    source: Source
    path: Path
    sha256: str


@dataclass(frozen=True)
class Build(Generic[R]):
    """What every stage is given: the recipe, the folders, the digest of each stage, and the input files."""

    recipe: R
    base: Path  # relative paths in the recipe start here
    work: Path
    digests: dict[str, str]
    threads: int = 1  # for stages that run alone and use all cores themselves
    inputs: Mapping[str, Input] = field(default_factory=dict)  # by their place in the recipe

    def folder(self, stage: str) -> Path:
        """The folder of a stage's shards; another digest has another folder."""
        return self.work / "stages" / f"{stage}-{self.digests[stage][:16]}"

    def shards(self, stage: str) -> list[str]:
        """The names of a finished stage's shards, in order."""
        names: list[str] = json.loads((self.folder(stage) / "done.json").read_text())["shards"]
        return names

    def path(self, stage: str, shard: str) -> Path:
        """A finished shard: a file or a folder."""
        return self.folder(stage) / shard

    def tables(self, stage: str) -> Iterator[pa.Table]:
        """A finished stage's shards as memory-mapped tables, in order."""
        return (read_table(self.path(stage, shard)) for shard in self.shards(stage))

    def counts(self, stage: str) -> Counts:
        """A finished stage's counts, added up over its shards."""
        total: Counts = {}
        for shard in self.shards(stage):
            for key, value in json.loads(mark_of(self.path(stage, shard)).read_text()).items():
                total[key] = total.get(key, 0) + value
        return total

    @property
    def cache(self) -> Path:
        """Where things named by the digest of their content lie, shared by all recipes of this work folder."""
        return self.work / "cache"

    @cached_property
    def corpus(self) -> Corpus:
        """All passages, in corpus order."""
        parts = sorted(self.path("pages", "all").glob("*.arrow"))
        return Corpus(parts, [self.path("chunk", s) for s in self.shards("chunk")], self.path("index", "pages"))


def mark_of(path: Path) -> Path:
    """The file beside a shard that says it is whole, and holds its counts."""
    return path.with_name(path.name + ".done.json")


@contextmanager
def only_one(work: Path) -> Iterator[None]:
    """Holds a work folder for one build at a time; the lock goes with the process, however it ends."""
    lock = FileLock(work / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SetupError(f"another build is running in {work}; wait for it, or choose another --work") from None
    try:
        yield
    finally:
        lock.release()
