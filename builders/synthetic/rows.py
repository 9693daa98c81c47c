"""Passages and rows of a synthetic dataset in its work folder, and the stage that writes its files."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.engine import Stage, Tick
from builders.errors import SetupError
from builders.files import read_table, write_table
from builders.schema import INSTANCES, SPLITS, Passage, Split
from builders.stages.files import files_of, instance_writer
from builders.synthetic.base import SyntheticRecipe, SyntheticRow
from builders.work import Build, Counts, Shard

ROWS_PER_GROUP = 64  # of a Parquet file


_PASSAGES = pa.schema([("pid", pa.string()), ("title", pa.string()), ("text", pa.large_string())])


def write_passages(path: Path, passages: Sequence[Passage]) -> None:
    """Writes passages without their roles; a passage's row is its index in the list."""
    columns = [[getattr(passage, name) for passage in passages] for name in _PASSAGES.names]
    write_table(path, pa.table(columns, schema=_PASSAGES))


def read_passages(path: Path) -> list[Passage]:
    """The passages that `write_passages` wrote."""
    columns = read_table(path).to_pydict().values()
    return [Passage(row, *values) for row, values in enumerate(zip(*columns, strict=True))]


def write_rows(rows: Iterable[SyntheticRow], out: Path) -> None:
    """Writes rows in order into a new folder, one file for each config and split with rows."""
    out.mkdir()
    files: dict[tuple[str, Split], _RowFile] = {}
    for config, split, row in rows:
        if (config, split) not in files:
            files[config, split] = _RowFile(out / _name(config, split))
        files[config, split].add({**row, "config": config})
    for file in files.values():
        file.close()


class _RowFile:
    """A file of rows; one row group is kept in memory."""

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(path, INSTANCES, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) == ROWS_PER_GROUP:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=INSTANCES))
        self._rows.clear()


def _name(config: str, split: str) -> str:
    return f"{config}--{split}.parquet"


def _files(build: Build[SyntheticRecipe], config: str, split: str) -> list[Path]:
    """The files of the stage `rows` with rows of a config and split, in order."""
    paths = (path / _name(config, split) for path in build.paths("rows"))
    return [path for path in paths if path.is_file()]


def plan_write(build: Build[SyntheticRecipe]) -> list[Shard]:
    """One shard for each file of the dataset; SetupError if a config has no rows in a split that another has."""
    configs = build.recipe.configs
    splits = [split for split in SPLITS if any(_files(build, config, split) for config in configs)]
    shards: list[Shard] = []
    for config in configs:
        for split in splits or SPLITS:
            rows = sum(pq.read_metadata(path).num_rows for path in _files(build, config, split))
            if not rows:
                raise SetupError(f"no instance of {config}, {split} fits; remove {config} from the recipe")
            shards += files_of(config, split, -(-rows // build.recipe.rows_per_file))
    return shards


def make_write(build: Build[SyntheticRecipe], shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes one file, in row groups of fixed size."""
    most = build.recipe.rows_per_file
    rows = 0
    with instance_writer(out) as writer:
        for table in _in_groups(_batches(_files(build, shard.config, str(shard.split)), shard.part * most, most)):
            rows += table.num_rows
            writer.write_table(table, row_group_size=table.num_rows)
    return {"rows": rows}


def _batches(paths: Iterable[Path], skipped: int, most: int) -> Iterator[pa.RecordBatch]:
    """At most `most` rows of consecutive files, after the skipped ones."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            if skipped >= file.metadata.num_rows:
                skipped -= file.metadata.num_rows
                continue
            for batch in file.iter_batches(ROWS_PER_GROUP):
                part = batch.slice(min(skipped, batch.num_rows), most)
                skipped, most = max(0, skipped - batch.num_rows), most - part.num_rows
                if part.num_rows:
                    yield part
                if not most:
                    return


def _in_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows of all batches in tables of ROWS_PER_GROUP rows; the last may be shorter."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, ROWS_PER_GROUP - sum(one.num_rows for one in held))
            held.append(part)
            batch = batch.slice(part.num_rows)
            if sum(one.num_rows for one in held) == ROWS_PER_GROUP:
                yield pa.Table.from_batches(held).combine_chunks()
                held = []
    if held:
        yield pa.Table.from_batches(held).combine_chunks()


WRITE = Stage("write", "write", 1, ("rows",), ("rows_per_file",), plan_write, make_write)
