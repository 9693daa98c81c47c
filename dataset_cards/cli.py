"""`icr2 card`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from builders.display import Terminal, say
from builders.errors import SetupError


def register(app: typer.Typer) -> None:
    """Adds the command to an app."""
    app.command()(card)


def card(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Dataset folder.")],
    published: Annotated[
        str | None, typer.Option(metavar="YYYY-MM-DD", help="Date of publication, for the Croissant file.")
    ] = None,
) -> None:
    """Write a dataset's statistics, figures, Croissant file and card from its manifest, files and validation."""
    from builders.bar import late_bar
    from builders.manifest import read_manifest
    from builders.views import readable
    from dataset_cards.card import write_card

    if published and not re.fullmatch(r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])", published):
        raise SetupError(f"invalid --published {published}; use a date such as 2026-11-30")
    configs = read_manifest(folder).configs
    with readable(folder), late_bar("measuring configs", len(configs), Terminal(stderr=True)) as advance:
        write_card(folder, published, advance)
    say(f"wrote {folder / 'README.md'}")
