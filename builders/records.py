"""What typed values of files are made of: names, labels, counts; and the reader of files that are one object."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from builders.config import NAME
from builders.errors import SetupError, shortened, shown
from builders.typed import parsed_json

LARGEST = 2**63 - 1  # of an integer in Arrow and DuckDB
LONGEST = 200  # characters of a label
LONGEST_NAME = 100
_CONTROL = {*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}

Count = Annotated[int, Field(ge=0, le=LARGEST)]


def _on_one_line(text: str) -> str:
    if not text.strip() or len(text) > LONGEST or any(ord(letter) in _CONTROL for letter in text):
        raise ValueError(f"1 to {LONGEST} characters on one line, without control characters")
    return text


def _named(name: str) -> str:
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise ValueError("lower-case letters, digits and _")
    return name


Name = Annotated[str, AfterValidator(_named)]  # of a config, task, family or retriever: a part of paths, views and SQL
Label = Annotated[str, AfterValidator(_on_one_line)]  # a name that is printed and written into cards


class Record(BaseModel):
    """A part of a file; values of another type and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Facts(BaseModel):
    """The fields of a part that we use, of the types that we rely on; others are kept and may be anything."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)


def read_object(path: Path, again: str) -> tuple[bytes, dict[str, Any]]:
    """The content of a JSON file and its value; SetupError as for `read_value`, and where it is not an object."""
    content, value = read_value(path, again)
    if not isinstance(value, dict):
        raise SetupError(f"{path}: found {type(value).__name__}, wanted an object; {again}")
    return content, value


def read_value(path: Path, again: str) -> tuple[bytes, Any]:
    """The content of a JSON file and its value; `again` says how to get a good one.

    SetupError where the file is missing or unreadable, is not JSON, or has an object with one key twice.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise SetupError(f"{path} is missing; {again}") from None
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}; check its permissions") from None
    try:
        value = parsed_json(content, object_pairs_hook=_without_doubles, parse_constant=_refuse)
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({shortened(str(error))}); {again}") from None
    return content, value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {shown(next(name for name in names if names.count(name) > 1))} occurs twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")
