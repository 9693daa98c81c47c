"""The one check of a Parquet file before its rows are queried: its columns and their types."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.errors import SetupError, shown

_FAMILIES = {
    "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "list": (pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view, pa.types.is_large_list_view),
    "integer": (pa.types.is_signed_integer,),
    "number": (pa.types.is_float32, pa.types.is_float64),
}


def check_file(path: Path, wanted: pa.Schema, again: str) -> None:
    """SetupError where a file cannot be queried as one of `wanted`: broken, without a column, or of another type.

    Widths of numbers and offsets may differ, and columns be more or in another order: `icr2 validate` compares those.
    """
    try:
        found = pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = shown(" ".join(str(error).split()))[1:-1]
        raise SetupError(f"{path} is not a readable Parquet file ({reason}); {again}") from None
    if missing := [name for name in wanted.names if name not in found.names]:
        raise SetupError(f"{path} lacks the columns {', '.join(missing)}; {again}")
    if doubled := {name for name in wanted.names if found.names.count(name) > 1}:
        raise SetupError(f"{path} has the columns {', '.join(sorted(doubled))} twice; {again}")
    for field in wanted:
        if _kind(found.field(field.name).type) != _kind(field.type):
            given = found.field(field.name).type
            raise SetupError(f"{path}: {field.name}: found {shown(str(given))[1:-1]}, wanted {field.type}; {again}")


def _kind(type_: pa.DataType) -> Any:
    """A type as queries see it."""
    if pa.types.is_struct(type_):
        return {member.name: _kind(member.type) for member in type_}
    family = next((name for name, tests in _FAMILIES.items() if any(test(type_) for test in tests)), str(type_))
    return [_kind(type_.value_type)] if family == "list" else family
