"""Editing a dataset folder: rows are read as Python objects, changed, and written back with a manifest that agrees."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.prompts import render
from builders.tasks import TaskSpec
from builders.tokens import token_counter
from tests.builders.tiny import KINDS

Row = dict[str, Any]
Found = tuple[str | None, str | None, str | None, str | None]  # config, split, id, pid


class Folder:
    """A dataset folder to plant a defect in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))

    @property
    def configs(self) -> list[str]:
        """The ICR² configs and the LOFT-style one."""
        return list(self.manifest["configs"])

    def file(self, config: str, split: str) -> Path:
        """The one file of a split."""
        return self.path / self.files(config)[split][0]["path"]

    def files(self, config: str) -> dict[str, list[Row]]:
        """The manifest's entries for a config's files, by split."""
        about: Row = self.manifest["configs"][config]
        files: dict[str, list[Row]] = about.get("files", about)  # in format 1 a config is its files
        return files

    def rows(self, config: str, split: str) -> list[Row]:
        """The rows of a split."""
        return pq.read_table(self.file(config, split)).to_pylist()

    def write(self, config: str, split: str, rows: list[Row], schema: pa.Schema | None = None) -> None:
        """Writes a split and updates its manifest entry."""
        schema = schema or pq.read_schema(self.file(config, split))
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), self.file(config, split))
        self.describe(config, split)

    def describe(self, config: str, split: str) -> None:
        """Makes the manifest agree with a split's file."""
        content = self.file(config, split).read_bytes()
        entry = self.files(config)[split][0]
        entry.update(bytes=len(content), sha256=sha256(content).hexdigest())
        entry["rows"] = pq.read_metadata(self.file(config, split)).num_rows
        self.save_manifest()

    def save_manifest(self) -> None:
        """Writes the manifest."""
        (self.path / "manifest.json").write_text(json.dumps(self.manifest), encoding="utf-8")

    def change(self, config: str, split: str, change: Callable[[Row], None], at: int = 0, task: str = "nq") -> Row:
        """Changes one row, the `at`-th of a task, and returns it."""
        rows = self.rows(config, split)
        row = [row for row in rows if row["task"] == task][at]
        change(row)
        self.write(config, split, rows)
        return row

    def change_all(self, change: Callable[[str, Row], None], splits: tuple[str, ...] = ("test",)) -> None:
        """Changes every row of every config in the splits."""
        for config in self.configs:
            for split in splits:
                rows = self.rows(config, split)
                for row in rows:
                    change(config, row)
                self.write(config, split, rows)

    def change_passage(self, pid: str, change: Callable[[Row], None]) -> list[Found]:
        """Changes a passage in all rows, with their token counts; returns the rows."""
        found = []
        for config in self.configs:
            for split in self.files(config):
                rows = self.rows(config, split)
                hit = False
                for row in rows:
                    for passage in row["passages"]:
                        if passage["pid"] == pid:
                            change(passage)
                            found.append((config, split, row["id"], pid))
                            recount(row)
                            hit = True
                if hit:
                    self.write(config, split, rows)
        return found


def recount(row: Row) -> None:
    """Makes a row's token count agree with its passages."""
    row["n_tokens"] = token_counter("smollm2").count(rendered(row))


def rendered(row: Row) -> str:
    """A row's prompt."""
    texts = [(passage["title"] or "", passage["text"] or "") for passage in row["passages"]]
    task = TaskSpec(row["task"], row["kind"], KINDS.get(row["task"], {}).get("labels", {}))
    return render(task, row["query"], texts).text


def non_gold(row: Row, role: str | None = None) -> int:
    """The position of a row's first non-gold passage, optionally of one role."""
    return next(
        at
        for at, passage in enumerate(row["passages"])
        if passage["role"] != "gold" and role in (None, passage["role"])
    )


def gold_of(row: Row) -> Row:
    """A row's first gold passage."""
    return row["passages"][row["gold"][0]]
