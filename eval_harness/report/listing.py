"""Which results of a large report are listed one by one: a share of the instances, in every config and method alike."""

from builders.seeds import order_key

LISTED = 20_000  # results that a page lists, and whose outputs are held in memory
_RANGE = 1 << 64


def is_listed(id: str, n: int) -> bool:
    """Whether the results of an instance are listed in a report over `n` results; a larger `n` lists fewer of them."""
    return n <= LISTED or int.from_bytes(order_key("listed", id)[:8], "big") * n < LISTED * _RANGE
