"""The typed reader of JSON files: values of a declared type, or one line that says file, field, found and wanted."""

import json
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from builders.errors import SetupError, shortened, shown

T = TypeVar("T")


class Open(BaseModel):
    """A part of a file that may have more fields than are read; nothing is converted."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


def read_json(path: Path, then: str, place: str = "") -> Any:
    """The value in a JSON file; SetupError, ending in what to do `then`, if it is missing or cannot be read.

    `place` is what the error calls a file that cannot be read.
    """
    try:
        return parsed_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SetupError(f"{path} is not there; {then}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SetupError(f"{place or f'{path} cannot be read'}: {reason}; {then}") from None


def typed_lines(path: Path, kind: type[T], then: str, *, ended: bool = False) -> list[T]:
    """The values of a JSON Lines file as instances of `kind`; SetupError, ending in `then`, names the first bad line.

    `ended` leaves out a last line without an end, of which a killed process wrote a part.
    """
    found = []
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if ended and not line.endswith("\n"):
                    break
                found.append(typed(parsed_json(line), kind, f"{path}, line {number}", then))
    except (OSError, ValueError) as error:
        where = "" if isinstance(error, OSError | UnicodeDecodeError) else f", line {len(found) + 1}"
        raise SetupError(f"{path}{where} cannot be read ({error}); {then}") from None
    return found


def parsed_json(text: str | bytes, **hooks: Any) -> Any:
    """The value of a JSON text; ValueError also where it is nested too deep or escapes half a surrogate pair."""
    try:
        value = json.loads(text, **hooks)
        if (b"\\u" if isinstance(text, bytes) else "\\u") in text:  # type: ignore[operator]
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return value


def typed(value: Any, kind: type[T], place: object, then: str) -> T:
    """A value as an instance of `kind`, nothing converted; SetupError names `place`, the field, found and wanted."""
    try:
        found: T = _adapter(cast(Hashable, kind)).validate_python(value, strict=True)
        return found
    except ValidationError as error:
        raise SetupError(f"{place}: {first_problem(error)}; {then}") from None


def first_problem(error: ValidationError) -> str:
    """The first problem of a value: its field, what was found and what was wanted."""
    problem = error.errors()[0]
    field = shortened(".".join(str(part) for part in problem["loc"] if part != "[key]"))
    match problem["type"]:
        case "missing":
            return f"{field}: found nothing, wanted a value"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"{field}: unknown field; remove it"
    said = str(problem["ctx"]["error"]) if problem["type"] == "value_error" else problem["msg"]
    wanted = said.removeprefix("Input should be ")
    if problem["type"] == "value_error" and not field:
        return said  # of the whole, which says where
    found = f"found {shown(problem['input'])}, wanted {wanted}"
    return f"{field}: {found}" if field else found


@lru_cache(maxsize=64)
def _adapter(kind: Hashable) -> "TypeAdapter[Any]":
    return TypeAdapter(cast(Any, kind))
