"""DuckDB over a dataset folder: one view per config."""

import csv as csv_module
import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from builders.display import Terminal, write
from builders.errors import SetupError, shown
from builders.manifest import ALL_CONFIGS, File, Manifest, passages_view, read_manifest
from builders.parquet import check_file
from builders.sql import exact, identifier, literal, read_parquet

if TYPE_CHECKING:
    import duckdb

SHOWN_ROWS = 100
_VIEWS = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_oid"

_PASSAGES = """
SELECT id, task, split, position, list_contains(gold, position) AS is_gold, p.*
FROM (SELECT *, passages[position + 1] AS p
      FROM (SELECT *, unnest(CASE WHEN len(passages) > 0 THEN range(len(passages)) ELSE [NULL] END) AS position
            FROM {0}))
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
        reason = shown(str(error).split("\n")[0])[1:-1]
        raise SetupError(f"{reason}; see what is broken with: icr2 validate {folder}") from None


def _make_views(connection: "duckdb.DuckDBPyConnection", folder: Path) -> None:
    manifest = read_manifest(folder)
    for config, about in manifest.configs.items():
        selects = [_select(folder, manifest, config, split, files) for split, files in about.files.items()]
        connection.execute(f"CREATE VIEW {identifier(config)} AS {' UNION ALL '.join(selects)}")
        passages = _PASSAGES.format(identifier(config))
        connection.execute(f"CREATE VIEW {identifier(passages_view(config))} AS {passages}")
    rows = [f"SELECT * FROM {identifier(config)}" for config in manifest.configs]
    connection.execute(f"CREATE VIEW {ALL_CONFIGS} AS {' UNION ALL '.join(rows)}")


def _select(folder: Path, manifest: Manifest, config: str, split: str, files: list[File]) -> str:
    paths = [_existing(folder, manifest, file) for file in files]
    return f"SELECT *, {literal(split)} AS split FROM {manifest.rows_sql(read_parquet(paths), config)}"


def _existing(folder: Path, manifest: Manifest, file: File) -> Path:
    path = manifest.path_of(folder, file)
    if not path.is_file():
        raise SetupError(f"{path} is missing, and the manifest lists it; build the dataset again")
    check_file(path, manifest.schema, f"see what is broken with: icr2 validate {folder}")
    return path


def run_sql(folder: Path, query: str, csv: bool, console: Terminal, unsafe: bool = False) -> None:
    """Prints the result of one statement as a table, or as comma-separated values.

    It reads the dataset's files alone and writes none; `unsafe` lifts that. SetupError where DuckDB refuses it.
    """
    import duckdb

    connection = connect(folder)
    views = [name for (name,) in connection.execute(_VIEWS).fetchall()]
    with tempfile.TemporaryDirectory(prefix="icr2-sql-") as spill:
        try:
            statement = _one_statement(connection, query, unsafe)
            if not unsafe:
                _close(connection, folder, spill)
            result = connection.execute(statement)
            names = [column[0] for column in result.description or []]
            rows = result.fetchall()
        except duckdb.Error as error:
            raise SetupError(_explained(error, query, views)) from None
        finally:
            connection.close()
    if csv:
        lines = io.StringIO()
        csv_module.writer(lines, lineterminator="\n").writerows([names, *rows])
        write(lines.getvalue())
        return
    console.table(names, rows[:SHOWN_ROWS])
    if len(rows) > SHOWN_ROWS:
        console.print(f"{len(rows)} rows, the first {SHOWN_ROWS} shown; --csv prints all")


def _one_statement(connection: "duckdb.DuckDBPyConnection", query: str, unsafe: bool) -> "duckdb.Statement":
    statements = connection.extract_statements(query)
    if not statements:
        raise SetupError(f"the query is empty; write one such as: SELECT count(*) FROM {ALL_CONFIGS}")
    if len(statements) > 1:
        raise SetupError(f"found {len(statements)} statements, wanted one; run them one at a time")
    if not unsafe and not _only_reads(statements[0]):
        kind = statements[0].type.name
        raise SetupError(f"found a statement of the kind {kind}, wanted SELECT; --unsafe runs any statement")
    return statements[0]


def _only_reads(statement: "duckdb.Statement") -> bool:
    """Whether a statement is a query: COPY could overwrite a file of the dataset, which has to be readable."""
    kind, query = statement.type.name, statement.query.lower()
    running = {"EXPLAIN": "analyze", "MULTI": "copy"}  # EXPLAIN ANALYZE runs what it explains; PIVOT is a MULTI
    return kind == "SELECT" or (kind in running and running[kind] not in query)


def _close(connection: "duckdb.DuckDBPyConnection", folder: Path, spill: str) -> None:
    """Takes away all files but the dataset's, for good; the folder `spill` stays readable, so it has to be empty."""
    manifest = read_manifest(folder)
    listed = [file for config in manifest.configs.values() for files in config.files.values() for file in files]
    paths = [manifest.path_of(folder, file) for file in listed]
    allowed = ", ".join(literal(text) for path in paths for text in {str(path.absolute()), exact(path)})
    connection.execute(f"SET temp_directory = {literal(spill)}; SET python_enable_replacements = false")
    connection.execute(f"SET allowed_paths = [{allowed}]; SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _explained(error: "duckdb.Error", query: str, views: list[str]) -> str:
    """DuckDB's message in one line, with what to do about it."""
    message = " ".join(str(error).split("\n\nLINE ")[0].split())
    if found := re.match(r"Catalog Error: Table with name (.+) does not exist!", message):
        name = found[1]
        near = get_close_matches(name, views, n=1)
        return f"no view {name!r}{f'; did you mean {quoted(near[0])}?' if near else ''}; views: {_listed(views)}"
    if message.startswith("Permission Error"):
        return f"DuckDB: {message}; only the dataset's files can be read, --unsafe reads any file"
    if message.startswith("Parser Error") and (found := re.search(r"\b(?:from|join)\s+(\d\w+)", query, re.I)):
        example = quoted(next(iter(get_close_matches(found[1], views, n=1)), views[0]))
        return f"DuckDB: {message}; quote names that begin with a digit, such as {example}; views: {_listed(views)}"
    return f"DuckDB: {message}"


def quoted(name: str) -> str:
    """A view's name as a query must write it."""
    return identifier(name) if name[0].isdigit() else name


def _listed(views: list[str]) -> str:
    """The views of configs, each of which has one of its passages too."""
    named = [quoted(name) for name in views if name == ALL_CONFIGS or passages_view(name) in views]
    return f"{', '.join(named)}, and CONFIG_passages"
