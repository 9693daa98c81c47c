"""Every file has the one Arrow schema of a release."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builders.schema import INSTANCES
from validation.checks.base import Check
from validation.measures import Measures


def difference(path: Path) -> str | None:
    """How a file's schema differs from that of instances, or None."""
    if not path.is_file():
        return "is missing"
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        return f"cannot be read: {' '.join(str(error).split())[:120]}"
    if missing := set(INSTANCES.names) - set(schema.names):
        return f"has no column {', '.join(sorted(missing))}"
    if extra := set(schema.names) - set(INSTANCES.names):
        return f"has a column too many: {', '.join(sorted(extra))}"
    for field in INSTANCES:
        if not schema.field(field.name).type.equals(field.type):
            return f"{field.name} is {schema.field(field.name).type}, not {field.type}"
    if schema.names != INSTANCES.names:
        return "has its columns in another order"
    wanted = INSTANCES.metadata[b"format"]
    given = (schema.metadata or {}).get(b"format")
    return None if given == wanted else f"its metadata says format {given!r}, not {wanted!r}"


def _find(m: Measures) -> str:
    files = [file for file in m.dataset.files if file.path in m.unreadable]
    return m.found("schema", [(f.config, f.split, f.path, None, m.unreadable[f.path]) for f in files])


CHECK = Check(
    name="schema",
    says="every file has the same Arrow schema, that of icr2-instance/1",
    why="files of different types cannot be read together; no other check looks into a file that fails this one",
    severity="error",
    unit="file",
    find=_find,
)
