"""Streams JSON records, and tells the user which line is broken."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, cast

from builders.errors import SetupError

_BLOCK = 1 << 20  # characters
_VALUE = re.compile(r"[^\s,]")  # where the next value of an array starts
_LONGEST = 1 << 28  # characters of one record in an array; more means that it is broken

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
    """A JSON object and where it stands; its methods give fields of one type, or a SetupError that names the field.

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
        """A whole number."""
        return self._typed(field, int)

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
        return SetupError(f"{self.where}: {self._parent}{field} is {_NAMES[type(found)]}, wanted {wanted}")

    def _typed(self, field: str, wanted: type) -> Any:
        if field not in self.values:
            raise SetupError(f"{self.where}: {self._parent}{field} is missing, wanted {_NAMES[wanted]}")
        value = self.values[field]
        if type(value) is not wanted:
            raise self.wrong(field, value, _NAMES[wanted])
        return value


def read_records(path: Path) -> Iterator[Record]:
    """The objects of a JSONL file or of a file with one JSON array, plain or gzip, one at a time.

    A broken line, and a value that is no object, is a SetupError with the file and the line (in an array, the record).
    """
    with _opened(path) as file:
        first = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    values = _array(path) if first == b"[" else _lines(path)
    for where, value in values:
        if type(value) is not dict:
            raise SetupError(f"{where}: {_NAMES[type(value)]}, wanted an object")
        yield Record(value, where)


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            where = f"{path}, line {number}"
            if text := _decoded(line, where).removeprefix("\ufeff").strip():
                try:
                    value = json.loads(text)
                except (json.JSONDecodeError, RecursionError) as error:
                    raise SetupError(f"{where}: not JSON ({error})") from None
                yield where, _without_surrogates(value, text)


def _array(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of one array, parsed one by one from a buffer that is filled as needed."""
    decoder, blocks = json.JSONDecoder(), _blocks(path)
    buffer, at, number = next(blocks).lstrip()[1:], 0, 0
    while not buffer.startswith("]", at := _start_of_value(buffer, at)):
        where = f"{path}, record {number + 1}"
        try:
            value, end = decoder.raw_decode(buffer, at)
        except (json.JSONDecodeError, RecursionError) as error:
            block = next(blocks, "")
            if not block or len(buffer) > _LONGEST:
                raise SetupError(f"{where}: not JSON ({error})") from None
            buffer, at = buffer[at:] + block, 0
            continue
        yield where, _without_surrogates(value, buffer[at:end])
        at, number = end, number + 1


def _start_of_value(buffer: str, at: int) -> int:
    match = _VALUE.search(buffer, at)
    return match.start() if match else len(buffer)


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
