"""Streams JSON records, and tells the user which line or record is broken."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

from builders.errors import SetupError, shortened, shown

_BLOCK = 1 << 20  # characters
_SPACE = re.compile(r"[ \t\r\n]*")
_LONGEST = 1 << 28  # characters of one record in an array; more means that it is broken
_MOST = 2**31 - 1  # whole numbers are kept in 32 bits

_NAMES = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


class Record:
    """A JSON object and its place; its methods give fields of one type, or a SetupError that names the field.

    Strings stay strings: nothing is read as a date or a number.
    """

    def __init__(self, values: dict[str, Any], where: str, parent: str = "") -> None:
        self.values = values
        self.where = where
        self._parent = parent

    def has(self, field: str) -> bool:
        """Whether the field is there and not null."""
        return self.values.get(field) is not None

    def text(self, field: str) -> str:
        """A string."""
        return self._typed(field, str)

    def integer(self, field: str) -> int:
        """A whole number of 32 bits."""
        value: int = self._typed(field, int)
        if not -_MOST - 1 <= value <= _MOST:
            raise SetupError(f"{self.where}: {self._parent}{field} is {shown(value)}, wanted {-_MOST - 1} to {_MOST}")
        return value

    def identifier(self, field: str) -> str:
        """An id: a string, or a whole number as a string."""
        value = self.values.get(field)
        return str(value) if type(value) is int else self.text(field)

    def items(self, field: str) -> list[Any]:
        """A list of anything."""
        return self._typed(field, list)

    def texts(self, field: str) -> list[str]:
        """A list of strings."""
        values = self.items(field)
        for at, value in enumerate(values):
            if type(value) is not str:
                raise self.wrong(f"{field}[{at}]", value, "a string")
        return values

    def object(self, field: str) -> "Record":
        """An object in this one."""
        return Record(self._typed(field, dict), self.where, f"{self._parent}{field}.")

    def objects(self, field: str) -> list["Record"]:
        """A list of objects."""
        values = self.items(field)
        for at, value in enumerate(values):
            if type(value) is not dict:
                raise self.wrong(f"{field}[{at}]", value, "an object")
        return [Record(value, self.where, f"{self._parent}{field}[{at}].") for at, value in enumerate(values)]

    def wrong(self, field: str, found: Any, wanted: str) -> SetupError:
        """The error for a field whose value is of another type than wanted."""
        name = _NAMES.get(type(found), type(found).__name__)
        return SetupError(f"{self.where}: {self._parent}{shortened(field)} is {name}, wanted {wanted}")

    def _typed(self, field: str, wanted: type) -> Any:
        if field not in self.values:
            raise SetupError(f"{self.where}: {self._parent}{shortened(field)} is missing, wanted {_NAMES[wanted]}")
        value = self.values[field]
        if type(value) is not wanted:
            raise self.wrong(field, value, _NAMES[wanted])
        return value


def read_records(path: Path) -> Iterator[Record]:
    """The objects of a JSONL file or of a file with one JSON array, plain or gzip, one at a time.

    A broken line, and a value that is not an object, is a SetupError with the file and the line (in an array, the
    record). So are an object with one key twice, a number that is too long, and anything else that JSON does not have.
    """
    with _opened(path) as file:
        first = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    values = _array(path) if first == b"[" else _lines(path)
    for where, value in values:
        if type(value) is not dict:
            raise SetupError(f"{where}: {_NAMES[type(value)]}, wanted an object")
        yield Record(value, where)


def read_object(path: Path) -> Record:
    """The one JSON object of a file, plain or gzip, read whole; SetupError for anything else."""
    value = parsed("".join(_blocks(path)), str(path))
    if type(value) is not dict:
        raise SetupError(f"{path}: {_NAMES[type(value)]} and no JSON object; give a file with one object")
    return Record(value, str(path))


def parsed(text: str, where: str) -> Any:
    """The value of a JSON text; SetupError with its place where it is not JSON."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise _not_json(where, error) from None
    return _without_surrogates(value, text)


def _not_json(where: str, error: Exception) -> SetupError:
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error).partition("; use sys.")[0]
    return SetupError(f"{where}: not JSON ({reason})")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs of an object as a dict; ValueError for a key that it has twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {shown(twice)} twice in one object")
    return values


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_constant=_no_constant)


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            where = f"{path}, line {number}"
            if text := _decoded(line, where).removeprefix("\ufeff").strip():
                yield where, parsed(text, where)


class _Buffer:
    """The text of a file, filled as needed: what is before `at` is used up."""

    def __init__(self, path: Path) -> None:
        self._blocks = _blocks(path)
        self.text, self.at = "", 0

    def more(self) -> bool:
        """Reads another block; whether there was one."""
        if block := next(self._blocks, ""):
            self.text, self.at = self.text[self.at :] + block, 0
        return bool(block)

    def next(self) -> str:
        """The next character that is not whitespace, without taking it; empty at the end."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def value(self, where: str) -> Any:
        """Takes the next JSON value."""
        self.next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                cut = isinstance(error, json.JSONDecodeError) and len(self.text) - self.at <= _LONGEST
                if cut and self.more():  # it may only be cut off
                    continue
                raise _not_json(where, error) from None
            if end == len(self.text) and self.more():  # a number may continue in the next block
                continue
            taken, self.at = self.text[self.at : end], end
            return _without_surrogates(value, taken)


def _array(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of one array, parsed one by one, and nothing after it."""
    buffer, number = _Buffer(path), 0
    buffer.next()
    buffer.at += 1  # the bracket
    empty = buffer.next() == "]"
    while not empty:
        number += 1
        where = f"{path}, record {number}"
        yield where, buffer.value(where)
        if (mark := buffer.next()) == "]":
            break
        if not mark:
            raise SetupError(f"{path}, record {number + 1}: not JSON (the file ends inside its array)")
        if mark != ",":
            raise SetupError(f"{path}, after record {number}: not JSON ({mark!r}, wanted a comma or a bracket)")
        buffer.at += 1
    buffer.at += 1
    if mark := buffer.next():
        raise SetupError(f"{path}, after record {number}: {mark!r} after the end of the array; wanted one array a file")


def _blocks(path: Path) -> Iterator[str]:
    with _opened(path) as file, TextIOWrapper(file, encoding="utf-8-sig") as text:
        try:
            while block := text.read(_BLOCK):
                yield block
        except UnicodeDecodeError as error:
            raise SetupError(f"{path} is not UTF-8 ({error.reason})") from None


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's content, unpacked where it is gzip; a damaged archive is a SetupError."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise SetupError(f"{path} is a damaged gzip file ({error}); fetch it again") from None


def _decoded(line: bytes, where: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise SetupError(f"{where}: not UTF-8 ({error.reason})") from None


def _without_surrogates(value: Any, text: str) -> Any:
    """The value with half surrogate pairs, which no UTF-8 file can hold, replaced by U+FFFD."""
    if "\\ud" not in text and "\\uD" not in text:
        return value
    return json.loads(
        json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
