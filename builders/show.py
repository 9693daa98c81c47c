"""One instance of a dataset, printed with gold and confounders coloured."""

from pathlib import Path
from typing import Any

from rich.text import Text

from builders.display import Terminal, plain
from builders.errors import SetupError, shown
from builders.manifest import read_manifest
from builders.sql import identifier
from builders.views import connect

SHOWN = ("id", "task", "kind", "split", "query", "answers", "depth", "n_tokens", "confounding_ratio", "flags")
MOST = 2000  # passages that are printed unless all are asked for; a context of 128k tokens has about 1,300
STYLE = {"gold": "bold green", "confounder": "red", "random": "dim"}


def print_instance(folder: Path, config: str, id: str, console: Terminal, every: bool = False) -> None:
    """Prints an instance's query, answers and passages; SetupError where the config or id is unknown.

    Of more than MOST passages the first and all of gold are printed, unless `every` one is asked for.
    """
    instance = find_instance(folder, config, id)
    for name in SHOWN:
        if instance[name] is not None:
            console.print(Text(f"{name}: ", style="bold") + Text(plain(_shown(instance[name]))), soft_wrap=False)
    passages = instance["passages"] or []
    for number, passage in enumerate(passages, start=1):
        if every or number <= MOST or (passage or {}).get("role") == "gold":
            _print_passage(number, passage or {}, console)
    if len(passages) > MOST and not every:
        console.print(Text(f"\n{len(passages):,} passages, of which {MOST:,} and gold are shown; --all shows each"))


def _print_passage(number: int, passage: dict[str, Any], console: Terminal) -> None:
    role, retrievers = passage.get("role"), [str(name) for name in passage.get("retrievers") or []]
    style = STYLE.get(str(role), "")
    by = f", {', '.join(retrievers)} rank {passage['rank']}" if retrievers else ""
    console.print(Text(plain(f"\n[{number}] {passage.get('title')}  ({role}{by})"), style=style), soft_wrap=False)
    console.print(Text(plain(passage.get("text")), style="" if role == "gold" else style), soft_wrap=False)


def find_instance(folder: Path, config: str, id: str) -> dict[str, Any]:
    """The row with an id in a config."""
    read_manifest(folder).config(config)
    connection, view = connect(folder), identifier(config)
    result = connection.execute(f"SELECT * FROM {view} WHERE id = ?", [id])
    names = [column[0] for column in result.description]
    row = result.fetchone()
    if row is None:
        some = [found[0] for found in connection.execute(f"SELECT id FROM {view} LIMIT 3").fetchall()]
        raise SetupError(f"no instance {shown(id)} in {config}; ids look like {', '.join(map(str, some)) or 'none'}")
    return dict(zip(names, row, strict=True))


def _shown(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
