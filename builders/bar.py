"""A progress bar that appears only for long work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import Progress

PATIENCE = 2.0  # seconds of work before the bar appears


@contextmanager
def late_bar(says: str, total: int, console: Console) -> Iterator[Callable[[], None]]:
    """Yields a function to call after each of `total` steps; the bar appears at the first step after PATIENCE."""
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
