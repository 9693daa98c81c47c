"""Defects of files."""

import shutil
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from tests.planted.folder import Folder
from tests.planted.plants.base import CONFIG, Expected, plant


@plant
def wrong_sha256(folder: Folder) -> Expected:
    folder.files(CONFIG)["test"][0]["sha256"] = "0" * 64
    folder.save_manifest()
    return {"manifest": {(CONFIG, "test", f"{CONFIG}/test-00000-of-00001.parquet", None)}}


@plant
def wrong_row_count(folder: Folder) -> Expected:
    folder.files(CONFIG)["test"][0]["rows"] += 1
    folder.save_manifest()
    return {"manifest": {(CONFIG, "test", f"{CONFIG}/test-00000-of-00001.parquet", None)}}


@plant
def edited_by_hand(folder: Folder) -> Expected:
    """A row's score is changed and the file rewritten: only the digest differs."""
    rows = folder.rows(CONFIG, "test")
    confounder = next(p for p in rows[0]["passages"] if p["role"] == "confounder")
    confounder["score"] += 1
    pq.write_table(
        pa.Table.from_pylist(rows, schema=pq.read_schema(folder.file(CONFIG, "test"))), folder.file(CONFIG, "test")
    )
    return {"manifest": {(CONFIG, "test", f"{CONFIG}/test-00000-of-00001.parquet", None)}}


@plant
def stray_file(folder: Folder) -> Expected:
    shutil.copy(folder.file(CONFIG, "test"), folder.path / CONFIG / "extra.parquet")
    return {"manifest": {(None, None, f"{CONFIG}/extra.parquet", None)}}


@plant
def missing_file(folder: Folder) -> Expected:
    file = folder.file("loft_2k", "test")
    file.unlink()
    at = ("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)
    return {"manifest": {at}, "schema": {at}, "rows": {("loft_2k", "test", None, None)}}


@plant
def broken_file(folder: Folder) -> Expected:
    file = folder.file("loft_2k", "test")
    file.write_bytes(b"PAR1 and then nothing")
    at = ("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)
    return {"manifest": {at}, "schema": {at}, "rows": {("loft_2k", "test", None, None)}}


@plant
def broken_page(folder: Folder) -> Expected:
    """The footer is whole, and the data behind it is not."""
    file = folder.file("loft_2k", "test")
    content = bytearray(file.read_bytes())
    content[200 : len(content) // 2] = bytes(len(content) // 2 - 200)
    file.write_bytes(content)
    folder.describe("loft_2k", "test")
    return {"schema": {("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)}}


def _retyped(folder: Folder, column: str, change: Callable[[pa.ChunkedArray], pa.Array]) -> Expected:
    """Writes one split with a column of another type."""
    table = pq.read_table(folder.file("loft_2k", "test"))
    table = table.set_column(table.schema.get_field_index(column), column, change(table[column]))
    pq.write_table(table.replace_schema_metadata(table.schema.metadata), folder.file("loft_2k", "test"))
    folder.describe("loft_2k", "test")
    return {"schema": {("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)}}


@plant
def other_schema(folder: Folder) -> Expected:
    """A list where the others have a large list."""
    return _retyped(folder, "answers", lambda answers: answers.cast(pa.large_list(pa.string())))


@plant
def null_typed_column(folder: Folder) -> Expected:
    """A column of nulls written without its type."""
    return _retyped(folder, "reasoning_types", lambda types: pa.nulls(len(types)))


@plant
def empty_split(folder: Folder) -> Expected:
    """A table without rows passes any other check."""
    folder.write("loft_2k", "validation", [])
    return {"rows": {("loft_2k", "validation", None, None)}}
