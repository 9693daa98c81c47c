"""Randomness seeded by names, independent of global state and of the order of work."""

import random
from collections.abc import Iterator
from hashlib import sha256

_SEPARATOR = "\x1f"  # no id, seed or title contains a unit separator


def rng_for(*parts: str) -> random.Random:
    """A random generator that depends only on `parts`, equal on every machine."""
    return random.Random(_digest(parts))


def shuffled(rng: random.Random, n: int) -> Iterator[int]:
    """All of range(n) in a random order, without building a list."""
    seen: set[int] = set()
    while len(seen) < n:
        number = rng.randrange(n)
        if number not in seen:
            seen.add(number)
            yield number


def order_key(*parts: str) -> bytes:
    """A 32-byte key that sorts names into a fixed shuffled order."""
    return _digest(parts)


def _digest(parts: tuple[str, ...]) -> bytes:
    return sha256(_SEPARATOR.join(parts).encode()).digest()
