"""A report's tables for the terminal."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from eval_harness.report.parts import Section

if TYPE_CHECKING:
    from rich.table import Table


def shown(section: Section, left_out: Collection[str] = ()) -> "Table":
    """A section as a terminal table, without the columns `left_out`."""
    from rich.table import Table
    from rich.text import Text

    places = [place for place, name in enumerate(section.header) if name not in left_out]
    table = Table(title=Text(section.title))
    for place in places:
        name = Text(section.header[place])
        table.add_column(name, justify="left" if place < section.left else "right", overflow="fold")
    for row in section.rows:
        table.add_row(*(Text(row[place]) for place in places))
    return table
