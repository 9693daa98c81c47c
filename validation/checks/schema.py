"""Every file has the Arrow schema of its format."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from validation.checks.base import Check
from validation.measures import Measures


def difference(path: Path, wanted: pa.Schema) -> str | None:
    """How a file's schema differs from the expected one, or None."""
    if not path.is_file():
        return "is missing"
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        return f"cannot be read: {' '.join(str(error).split())[:120]}"
    if missing := set(wanted.names) - set(schema.names):
        return f"has no column {', '.join(sorted(missing))}"
    if extra := set(schema.names) - set(wanted.names):
        return f"has an extra column: {', '.join(sorted(extra))}"
    for field in wanted:
        if not schema.field(field.name).type.equals(field.type):
            return f"{field.name} is {schema.field(field.name).type}, not {field.type}"
    if schema.names != wanted.names:
        return "has its columns in another order"
    wanted_format, given = ((one.metadata or {}).get(b"format") for one in (wanted, schema))
    return None if given == wanted_format else f"its metadata says format {given!r}, not {wanted_format!r}"


def _find(m: Measures) -> str:
    files = [file for file in m.dataset.files if file.path in m.unreadable]
    return m.found("schema", [(f.config, f.split, f.path, None, m.unreadable[f.path]) for f in files])


CHECK = Check(
    name="schema",
    says="every file has the Arrow schema of the manifest's format",
    why="files of different types cannot be read together; other checks skip a file that fails this one",
    severity="error",
    unit="file",
    find=_find,
)
