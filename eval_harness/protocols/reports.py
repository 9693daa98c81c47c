"""The report of a protocol's run, whichever protocol it is."""

import json
from pathlib import Path

from builders.errors import SetupError
from eval_harness.report.instances import Instances
from eval_harness.report.parts import Document
from eval_harness.report.study import Study

NAMES = ("oncu", "frames", "needles")


def protocol_of(run: Path) -> str | None:
    """The protocol that a run folder was made by; None for one of `icr2 eval`, and for what is no run."""
    try:
        record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name = record.get("protocol") if isinstance(record, dict) else None
    if name is not None and name not in NAMES:
        raise SetupError(f"{run} was made by the protocol {name!r}; there are {', '.join(NAMES)}")
    return name


def document(run: Path, dataset: Path | None) -> tuple[Document, Study | None, Instances]:
    """The report of a protocol's run, its rows, and their instances where the dataset is given."""
    from eval_harness.protocols import frames, needles, oncu

    modules = {"oncu": oncu, "frames": frames, "needles": needles}
    return modules[protocol_of(run) or ""].document(run, dataset)
