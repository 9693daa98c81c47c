"""The interface of a protocol."""

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
    """A protocol: one folder, a command of its own, and one line in `eval_harness.commands.protocols`.

    `says` is the help text of its command, which `register` mounts under the protocol's name. `document(run, dataset)`
    returns the report of a run folder whose record names the protocol, with instances if the dataset is
    given.
    """

    says: str
    register: Callable[["typer.Typer"], None]
    document: Callable[[Path, Path | None], "Reported"]
