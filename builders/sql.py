"""SQL made of names and paths: the one place that quotes them. A path is a path, never a pattern."""

import re
from collections.abc import Iterable
from pathlib import Path

_GLOB = re.compile(r"([*?\[])")


def identifier(name: str) -> str:
    """A name of a view or column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def exact(path: Path) -> str:
    """A path as DuckDB's readers take it, absolute, so that it matches this file alone."""
    return _GLOB.sub(r"[\1]", str(path.absolute()))


def read_parquet(paths: Iterable[Path], *options: str) -> str:
    """SQL that reads the rows of these files; no column is taken from the names of folders, such as `k=v`."""
    files = ", ".join(literal(exact(path)) for path in paths)
    return f"read_parquet([{files}], {', '.join(('hive_partitioning = false', *options))})"
