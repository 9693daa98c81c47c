"""Times sides in turn, so that other load on the machine affects all of them."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

REPEATS = 3
PATIENCE = 10.0  # seconds; a slower side runs only once


class Timed(NamedTuple):
    """The best time of a side, and its result in that run."""

    seconds: float
    result: Any


def timed(side: Callable[[], Any]) -> Timed:
    """One run of a side."""
    start = perf_counter()
    result = side()
    return Timed(perf_counter() - start, result)


def alternately(*sides: Callable[[], Any]) -> list[Timed]:
    """The best of REPEATS runs of each side, taken in turn."""
    best = [timed(side) for side in sides]
    for _ in range(REPEATS - 1):
        for at, side in enumerate(sides):
            if best[at].seconds < PATIENCE:
                best[at] = min(best[at], timed(side), key=lambda run: run.seconds)
    return best
