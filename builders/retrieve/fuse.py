"""Fusion of rankings."""

from collections import defaultdict
from collections.abc import Sequence


def rrf(runs: Sequence[Sequence[str]], k: int = 60) -> list[str]:
    """Ids by reciprocal rank fusion, sum of 1 / (k + rank), ties by id (Cormack et al., SIGIR 2009)."""
    score: defaultdict[str, float] = defaultdict(float)
    for run in runs:
        for rank, pid in enumerate(dict.fromkeys(run), start=1):
            score[pid] += 1 / (k + rank)
    return sorted(score, key=lambda pid: (-score[pid], pid))
