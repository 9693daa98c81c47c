"""One instance of a dataset, printed with gold and confounders coloured."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.views import connect

SHOWN = ("id", "task", "kind", "split", "query", "answers", "depth", "n_tokens", "confounding_ratio", "flags")
STYLE = {"gold": "bold green", "confounder": "red", "random": "dim"}


def print_instance(folder: Path, config: str, id: str, console: Console) -> None:
    """Prints an instance's query, answers and passages; SetupError where the config or id is unknown."""
    instance = find_instance(folder, config, id)
    for name in SHOWN:
        if instance[name] is not None:
            console.print(Text(f"{name}: ", style="bold") + Text(_shown(instance[name])))
    for number, passage in enumerate(instance["passages"], start=1):
        by = f", {', '.join(passage['retrievers'])} rank {passage['rank']}" if passage["retrievers"] else ""
        console.print(Text(f"\n[{number}] {passage['title']}  ({passage['role']}{by})", style=STYLE[passage["role"]]))
        console.print(Text(passage["text"], style="" if passage["role"] == "gold" else STYLE[passage["role"]]))


def find_instance(folder: Path, config: str, id: str) -> dict[str, Any]:
    """The row with an id in a config."""
    connection = connect(folder)
    read_manifest(folder).config(config)
    result = connection.execute(f'SELECT * FROM "{config}" WHERE id = ?', [id])
    names = [column[0] for column in result.description]
    row = result.fetchone()
    if row is None:
        some = [found[0] for found in connection.execute(f'SELECT id FROM "{config}" LIMIT 3').fetchall()]
        raise SetupError(f"no instance {id!r} in {config}; ids look like {', '.join(some)}")
    return dict(zip(names, row, strict=True))


def _shown(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
