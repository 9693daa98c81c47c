"""The record of a protocol's run."""

import json
from pathlib import Path
from typing import Any

from builders.errors import SetupError


def record_of(run: Path, protocol: str) -> dict[str, Any]:
    """What the results of a protocol's run depend on; SetupError where the folder holds no run by it."""
    path = run / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read ({error}); give a folder that icr2 {protocol} left") from None
    if not isinstance(record, dict) or record.get("protocol") != protocol:
        raise SetupError(f"{run} is no run of the protocol {protocol}; give a folder that icr2 {protocol} left")
    return record
