"""What a benchmark gives, and the table of all of them."""

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
    """One line of the table; `ratio` is how many times better ours is or, for memory, how many times more it takes."""

    name: str
    unit: str  # of `ours` and `peer`
    ours: float
    peer: float
    ratio: float
    wanted: str
    agrees: bool | None  # whether both sides gave the same, apart from what `notes` explains; None: nothing to compare
    peer_is: str
    notes: tuple[str, ...] = ()


def table(results: Sequence[Result]) -> Table:
    """The results, one a row."""
    shown = Table("benchmark", "unit", "ours", "peer", "ratio", "wanted", "agree", "the peer")
    for result in results:
        numbers = (f"{result.ours:,.0f}", f"{result.peer:,.0f}", f"{result.ratio:.2f}")
        agree = {True: "yes", False: "[red]NO[/red]", None: "–"}[result.agrees]
        shown.add_row(result.name, result.unit, *numbers, result.wanted, agree, result.peer_is)
    return shown


def print_report(results: Sequence[Result], console: Console) -> None:
    """Prints the table and, under it, what each benchmark has to say."""
    console.print(table(results))
    for result in results:
        for note in result.notes:
            console.print(f"{result.name}: {note}", highlight=False)


def write_json(results: Sequence[Result], path: Path) -> None:
    """Writes the results as one JSON list of objects."""
    path.write_text(json.dumps([result._asdict() for result in results], indent=2, ensure_ascii=False) + "\n")


def run_command(command: Callable[..., None]) -> None:
    """Runs a command; what the user can mend is one line on the error output and exit code 2."""
    try:
        typer.run(command)
    except SetupError as error:
        Console(stderr=True, soft_wrap=True).print(f"error: {error}", markup=False, highlight=False)
        sys.exit(2)
