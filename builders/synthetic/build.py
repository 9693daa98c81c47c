"""Builds a made dataset: the same folder as the pipeline's, which appears whole by one rename."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from builders.assemble import described, manifest_of, new_dataset, write_head
from builders.config import Source
from builders.engine import progress_bars
from builders.errors import SetupError
from builders.files import checked_folder
from builders.schema import INSTANCES, SPLITS, Split
from builders.sources.fetch import digest_of_file, fetch
from builders.stages.files import instance_writer
from builders.synthetic import kind_of
from builders.synthetic.base import Made, MadeRecipe
from builders.work import only_one

ROWS_PER_GROUP = 64  # of a Parquet file


def run_made(recipe: MadeRecipe, folder: Path, out: Path, work: Path, console: Console) -> dict[str, Any]:
    """Builds a recipe that stands in `folder` into the folder `out`, and returns the manifest.

    The work folder keeps what was downloaded. A build that was stopped begins again.
    """
    checked_folder(work, "work folder")
    checked_folder(out.parent, "output folder's parent")
    counts: Counter[str] = Counter()
    with only_one(work), new_dataset(out) as partial:
        found = check_inputs(recipe, folder, work)
        made = kind_of(recipe.kind).make(recipe, {place: path for place, (_, path) in found.items()}, counts)
        with progress_bars(console) as progress:
            configs = _write(progress.track(made, description=f"make {recipe.kind}"), recipe, partial)
        inputs = {place: (source, digest_of_file(path, work / "cache")) for place, (source, path) in found.items()}
        tasks = recipe.tasks_of({place: path for place, (_, path) in found.items()})
        manifest = manifest_of(recipe, tasks, described(configs, partial), inputs, {recipe.kind: dict(+counts)}, {})
        write_head(partial, manifest)
    return manifest


def sources_of(recipe: MadeRecipe, folder: Path) -> dict[str, Source]:
    """Every source by its place in a recipe that stands in `folder`."""
    return kind_of(recipe.kind).inputs(recipe, recipe.base(folder))


def check_inputs(recipe: MadeRecipe, folder: Path, work: Path) -> dict[str, tuple[Source, Path]]:
    """The sources of a recipe that stands in `folder`, and their files; SetupError where one is missing or another."""
    base, cache = recipe.base(folder), work / "cache"
    return {place: (source, fetch(source, base, cache)) for place, source in sources_of(recipe, folder).items()}


def _write(rows: Iterable[Made], recipe: MadeRecipe, folder: Path) -> dict[str, dict[str, list[Path]]]:
    """Writes rows in their order and returns the files of every config and split; none of them may be without a row."""
    open_splits: dict[tuple[str, Split], _SplitFiles] = {}
    for config, split, row in rows:
        if (config, split) not in open_splits:
            open_splits[config, split] = _SplitFiles(folder / config, split, recipe.rows_per_file)
        open_splits[config, split].add({**row, "config": config})
    splits = [split for split in SPLITS if any(found == split for _, found in open_splits)]
    for config in recipe.configs:
        for split in splits or SPLITS:
            if (config, split) not in open_splits:
                raise SetupError(f"no instance of {config}, {split} fits; take {config} out of the recipe")
    return {config: {split: open_splits[config, split].close() for split in splits} for config in recipe.configs}


class _SplitFiles:
    """The files of one split of a config: each takes `rows_per_file` rows, in row groups of a fixed number."""

    def __init__(self, folder: Path, split: Split, rows_per_file: int) -> None:
        self._folder, self._split, self._most = folder, split, rows_per_file
        self._rows: list[dict[str, Any]] = []
        self._written = 0  # rows of the file that is open
        self._writer: pq.ParquetWriter | None = None
        self._parts: list[Path] = []

    def add(self, row: dict[str, Any]) -> None:
        """Takes one row, in its order."""
        self._rows.append(row)
        if len(self._rows) == min(ROWS_PER_GROUP, self._most - self._written):
            self._flush()

    def close(self) -> list[Path]:
        """The finished files."""
        if self._rows:
            self._flush()
        if self._writer:
            self._writer.close()
        names = [f"{self._split}-{n:05d}-of-{len(self._parts):05d}.parquet" for n in range(len(self._parts))]
        return [part.rename(self._folder / name) for part, name in zip(self._parts, names, strict=True)]

    def _flush(self) -> None:
        if self._writer is None:
            self._folder.mkdir(exist_ok=True)
            self._parts.append(self._folder / f"{self._split}-{len(self._parts):05d}.partial")
            self._writer = instance_writer(self._parts[-1])
        table = pa.Table.from_pylist(self._rows, schema=INSTANCES)
        self._writer.write_table(table, row_group_size=len(self._rows))
        self._written += len(self._rows)
        self._rows.clear()
        if self._written == self._most:
            self._writer.close()
            self._writer, self._written = None, 0
