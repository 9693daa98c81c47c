"""Pools the runs of several retrievers for one question (paper, section 3.2)."""

from collections.abc import Mapping, Sequence

from builders.retrieve.base import Hit
from builders.schema import Found


def round_robin(runs: Mapping[str, Sequence[Hit]]) -> list[Found]:
    """One pool from ranked runs: every retriever's rank 1 in the order of `runs`, then every rank 2, and so on.

    A passage found by several retrievers keeps its first place and lists all of them, the earliest first.
    Questions are independent of each other.
    """
    pool: dict[int, Found] = {}
    for rank in range(1, max(map(len, runs.values()), default=0) + 1):
        for name, hits in runs.items():
            if rank > len(hits):
                continue
            row, score = hits[rank - 1]
            if row in pool:
                pool[row] = pool[row]._replace(retrievers=(*pool[row].retrievers, name))
            else:
                pool[row] = Found(row, "confounder", (name,), rank, score)
    return list(pool.values())
