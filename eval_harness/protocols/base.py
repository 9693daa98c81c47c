"""What a protocol is."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import typer

    from eval_harness.report.instances import Instances
    from eval_harness.report.parts import Document
    from eval_harness.report.study import Study

    Reported = tuple[Document, Study | None, Instances]


class Protocol(NamedTuple):
    """A protocol is one folder with a command beside `icr2 eval` and one line in `eval_harness.commands.protocols`.

    `says` is the help of its command, which `register` mounts under the protocol's name. `document(run, dataset)` is
    the report of a run folder that it left, whose record names it: its rows with their instances where the dataset is
    given.
    """

    says: str
    register: Callable[["typer.Typer"], None]
    document: Callable[[Path, Path | None], "Reported"]
