"""Tokens of passages and questions, from the characters that they come from."""

from bisect import bisect_left
from collections.abc import Sequence

Span = tuple[int, int]


def token_spans(places: Sequence[Span], characters: Sequence[Span]) -> list[Span]:
    """The tokens of each stretch of characters, half-open; empty where no token begins in it.

    `places` are the characters of each token, `characters` stretches in rising order that do not overlap. A token that
    reaches over a border belongs to the stretch that its first character is in.
    """
    starts = [start if end > start else None for start, end in places]
    real = [at for at, start in enumerate(starts) if start is not None]
    begins = [places[at][0] for at in real]
    found = []
    for start, end in characters:
        first, last = bisect_left(begins, start), bisect_left(begins, end)
        found.append((real[first], real[last - 1] + 1) if last > first else (0, 0))
    return found
