"""The position of gold in a context: a depth in percent of the tokens of all other passages."""

from collections.abc import Iterable, Sequence

SECOND = 50  # percent of the context between the first gold passage and the second one


def depths_of(depth: int, golds: int) -> list[int]:
    """The depths of one or two gold passages, the first at `depth`, the second half a context away."""
    return [depth, (depth + SECOND) % 100][:golds]


def marks_of(depths: Iterable[int]) -> list[int]:
    """The ends of a context and every possible depth of gold, ascending."""
    return sorted({0, 100, *(mark for depth in depths for mark in depths_of(depth, 2))})


def cells(tokens: Sequence[int], marks: Sequence[int]) -> list[int]:
    """The cell of each passage of a stream: cell i is between marks i and i + 1.

    For any prefix of the stream, the tokens before each mark are close to its share of all: every passage goes to the
    cell with the least sum of squared differences.
    """
    before = [0.0] * len(marks)  # tokens of the passages before each mark
    total = 0
    chosen = []
    for n in tokens:
        total += n
        away = [mark / 100 * total - held for mark, held in zip(marks, before, strict=True)]
        # a passage in cell i precedes the marks after i
        gains = [sum(away[cell + 1 :]) for cell in range(len(marks) - 1)]
        costs = [n * (len(marks) - 1 - cell) - 2 * gain for cell, gain in enumerate(gains)]
        cell = min(range(len(costs)), key=lambda at: (costs[at], at))
        before = [held + n * (at > cell) for at, held in enumerate(before)]
        chosen.append(cell)
    return chosen
