"""The record of a protocol's run."""

import json
from pathlib import Path
from typing import Any

from builders.errors import SetupError


def record_of(run: Path, protocol: str) -> dict[str, Any]:
    """The record of a protocol's run; SetupError if the folder is not a run of the protocol."""
    path = run / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read ({error}); give a run folder of icr2 {protocol}") from None
    if not isinstance(record, dict) or record.get("protocol") != protocol:
        raise SetupError(f"{run} is not a run of the protocol {protocol}; give a run folder of icr2 {protocol}")
    return record
