"""The parts of a report: tables, figures, and lines of numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = Mapping[str, Any]


class Section(NamedTuple):
    """A table under a heading: the first `left` columns are names, the others numbers; cells may have several lines.

    A section with a `short` name is in the page's menu; a `folded` one shows only its heading until it is opened.
    """

    name: str
    title: str
    notes: list[str]
    header: list[str]
    rows: list[list[str]]
    left: int
    short: str = ""
    folded: bool = False


class Drawn(NamedTuple):
    """A figure, its file name, its caption, and the name of the section that it follows."""

    name: str
    figure: "Figure"
    caption: str
    below: str


class Document(NamedTuple):
    """A whole report; `tables` are the lines of each CSV file by name."""

    title: str
    subtitle: str
    sections: Sequence[Section] = ()
    figures: Sequence[Drawn] = ()
    tables: Mapping[str, Sequence[Line]] = {}
