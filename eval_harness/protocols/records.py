"""The record of a protocol's run."""

from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.typed import Open, read_json, typed


def record_of(run: Path, protocol: str, fields: type[Open] = Open) -> dict[str, Any]:
    """The record of a protocol's run, which has these fields; SetupError if the folder is not a run of the protocol."""
    path, then = run / "run.json", f"give a run folder of icr2 {protocol}"
    record = read_json(path, then)
    if not isinstance(record, dict) or record.get("protocol") != protocol:
        raise SetupError(f"{run} is not a run of the protocol {protocol}; {then}")
    typed(record, fields, path, "restore it, or rerun with another --out")
    return record
