"""DuckDB over a dataset folder: one view per config."""

import csv as csv_module
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from builders.errors import SetupError
from builders.manifest import File, Manifest, read_manifest

if TYPE_CHECKING:
    import duckdb

SHOWN_ROWS = 100

_PASSAGES = """
SELECT id, task, split, position, list_contains(gold, position) AS is_gold, p.*
FROM (SELECT *, passages[position + 1] AS p
      FROM (SELECT *, unnest(CASE WHEN len(passages) > 0 THEN range(len(passages)) ELSE [NULL] END) AS position
            FROM "{0}"))
"""


def connect(folder: Path) -> "duckdb.DuckDBPyConnection":
    """A connection in memory with views of a dataset.

    Each config has a view of its rows (with `split`) and one of its passages, `{config}_passages`, where a row without
    passages keeps one line; `all_configs` has the rows of all. Rows of format 1 are upgraded to format 2.
    """
    import duckdb

    connection = duckdb.connect()
    with readable(folder):
        _make_views(connection, folder)
    return connection


@contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Turns DuckDB's errors about broken files, in our own queries inside the block, into SetupErrors."""
    import duckdb

    try:
        yield
    except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.OutOfMemoryException):
        raise  # not caused by a file
    except duckdb.Error as error:
        reason = str(error).split("\n")[0]
        raise SetupError(f"{reason}; see what is broken with: icr2 validate {folder}") from None


def _make_views(connection: "duckdb.DuckDBPyConnection", folder: Path) -> None:
    manifest = read_manifest(folder)
    for config, about in manifest.configs.items():
        selects = [_select(folder, manifest, config, split, files) for split, files in about.files.items()]
        connection.execute(f'CREATE VIEW "{config}" AS {" UNION ALL ".join(selects)}')
        connection.execute(f'CREATE VIEW "{config}_passages" AS {_PASSAGES.format(config)}')
    rows = [f'SELECT * FROM "{config}"' for config in manifest.configs]
    connection.execute(f"CREATE VIEW all_configs AS {' UNION ALL '.join(rows)}")


def _select(folder: Path, manifest: Manifest, config: str, split: str, files: list[File]) -> str:
    paths = ", ".join(literal(str(_existing(folder, manifest, file))) for file in files)
    rows = manifest.rows_sql(f"read_parquet([{paths}])", config)
    return f"SELECT *, {literal(split)} AS split FROM {rows}"


def literal(text: str) -> str:
    """Text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _existing(folder: Path, manifest: Manifest, file: File) -> Path:
    path = manifest.path_of(folder, file)
    if not path.is_file():
        raise SetupError(f"{path} is missing, and the manifest lists it; build the dataset again")
    return path


def run_sql(folder: Path, query: str, csv: bool, console: Console) -> None:
    """Prints the result of a query as a table, or as comma-separated values."""
    import duckdb

    try:
        result = connect(folder).execute(query)
        names = [column[0] for column in result.description or []]
        rows = result.fetchall()
    except duckdb.Error as error:
        raise SetupError(f"DuckDB: {' '.join(str(error).split())}") from None
    if csv:
        csv_module.writer(sys.stdout, lineterminator="\n").writerows([names, *rows])
        return
    table = Table(*names)
    for row in rows[:SHOWN_ROWS]:
        table.add_row(*(str(value) for value in row))
    console.print(table)
    if len(rows) > SHOWN_ROWS:
        console.print(f"{len(rows)} rows, the first {SHOWN_ROWS} shown; --csv prints all")
