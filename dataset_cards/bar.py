"""A progress bar that only long work shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import Progress

PATIENCE = 2.0  # seconds of work after which a user wants to see how far it is


@contextmanager
def late_bar(says: str, total: int, console: Console) -> Iterator[Callable[[], None]]:
    """Yields what is to be called after each of `total` steps; the bar shows from the first after PATIENCE on."""
    progress = Progress(console=console, transient=True)
    bar = progress.add_task(says, total=total)
    began = monotonic()

    def advance() -> None:
        progress.advance(bar)
        if monotonic() - began > PATIENCE:
            progress.start()

    try:
        yield advance
    finally:
        progress.stop()
