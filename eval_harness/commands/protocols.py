"""Protocols by name: their commands, and the reports of their runs."""

from pathlib import Path

import typer

from builders.errors import SetupError
from builders.typed import parsed_json
from eval_harness.commands import frames, needles, oncu
from eval_harness.protocols.base import Protocol

PROTOCOLS: dict[str, Protocol] = {
    "oncu": oncu.PROTOCOL,
    "frames": frames.PROTOCOL,
    "needles": needles.PROTOCOL,
}


def register(app: typer.Typer) -> None:
    """Mounts the command of each protocol on `app`."""
    for protocol in PROTOCOLS.values():
        protocol.register(app)


def protocol_of(run: Path) -> str | None:
    """The protocol of a run folder; None for a run of `icr2 eval`, and for a folder that is not a run."""
    try:
        record = parsed_json((run / "run.json").read_bytes())
    except (OSError, ValueError):
        return None
    name = record.get("protocol") if isinstance(record, dict) else None
    if name is not None and name not in PROTOCOLS:
        raise SetupError(f"{run} is a run of the unknown protocol {name!r}; available: {', '.join(PROTOCOLS)}")
    return name
