"""The result of a benchmark, and the table of all results."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from builders.errors import SetupError


class Result(NamedTuple):
    """One row of the table; `ratio` is how many times better ours is or, for memory, how many times more it uses."""

    name: str
    unit: str  # of `ours` and `peer`
    ours: float
    peer: float
    ratio: float
    wanted: str
    agrees: bool | None  # whether both sides agree, except as explained in `notes`; None: nothing to compare
    peer_is: str
    notes: tuple[str, ...] = ()


def table(results: Sequence[Result]) -> Table:
    """The results, one per row."""
    shown = Table("benchmark", "unit", "ours", "peer", "ratio", "wanted", "agree", "the peer")
    for result in results:
        numbers = (f"{result.ours:,.0f}", f"{result.peer:,.0f}", f"{result.ratio:.2f}")
        agree = {True: "yes", False: "[red]NO[/red]", None: "–"}[result.agrees]
        shown.add_row(result.name, result.unit, *numbers, result.wanted, agree, result.peer_is)
    return shown


def print_report(results: Sequence[Result], console: Console) -> None:
    """Prints the table and, below it, the notes of each benchmark."""
    console.print(table(results))
    for result in results:
        for note in result.notes:
            console.print(f"{result.name}: {note}", highlight=False)


def write_json(results: Sequence[Result], path: Path) -> None:
    """Writes the results as one JSON list of objects."""
    path.write_text(json.dumps([result._asdict() for result in results], indent=2, ensure_ascii=False) + "\n")


def run_command(command: Callable[..., None]) -> None:
    """Runs a command; an error that the user can fix is one line on stderr and exit code 2."""
    try:
        typer.run(command)
    except SetupError as error:
        Console(stderr=True, soft_wrap=True).print(f"error: {error}", markup=False, highlight=False)
        sys.exit(2)
