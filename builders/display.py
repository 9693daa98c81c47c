"""The one way to a terminal: data is printed as it is, never as mark-up, and its control characters as text."""

import io
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_KEPT = "\n\t"
_DIRECTIONS = [0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_CONTROL = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_DIRECTIONS, *range(0xD800, 0xE000)]
_AS_TEXT = {code: ascii(chr(code))[1:-1] for code in _CONTROL if chr(code) not in _KEPT}


def plain(text: object) -> str:
    """A text whose control characters (terminal escapes, changes of direction) are written as in Python: `\\x1b`."""
    return str(text).translate(_AS_TEXT)


class Terminal(Console):
    """A console to which a string is data: no mark-up, no emoji codes, no colours by content, no control characters.

    It leaves a line of text as it is, however wide. What is to be styled is a `Text` with a style.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints text as whole lines, and other things to fit the width."""
        options.setdefault("soft_wrap", all(isinstance(one, str | Text) for one in objects))
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as text, at its width on the screen."""
        return super().render_str(plain(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable; only those of rich itself move the cursor."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain(segment.text))

    def table(self, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Prints values as a table."""
        table = Table(*map(plain, names))
        for row in rows:
            table.add_row(*(plain(value) for value in row))
        self.print(table)


def say(line: object, stderr: bool = False) -> None:
    """Prints one line of text as it is."""
    Terminal(stderr=stderr).print(plain(line))


def write(text: str) -> None:
    """Writes a text to stdout to the byte, for programs; a terminal gets it as `plain`."""
    sys.stdout.write(plain(text) if sys.stdout.isatty() else text)


def replace_what_cannot_be_shown() -> None:
    """Makes stdout and stderr write `?` for what their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
