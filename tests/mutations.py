"""Seeded changes of JSON values: a field of another type, null, missing, or of an extreme value."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

OTHERS: list[Any] = [
    None, True, 0, -1, 2**63, 1.5, float("nan"), "", "x", "1e999", "\ud800", [], [None],
    ["x"], [[]], {}, {"": None}, {"x": {}},
]  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*at, key)
        yield from places(one, (*at, key))


def mutated(value: Any, random: Random) -> Any:
    """A copy of a value with one change inside."""
    changed = copy.deepcopy(value)
    *way, last = random.choice([*places(value)])
    inside = changed
    for key in way:
        inside = inside[key]
    if random.random() < 0.25:
        del inside[last]
    else:
        inside[last] = copy.deepcopy(random.choice(OTHERS))
    return changed
