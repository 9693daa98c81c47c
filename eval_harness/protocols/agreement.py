"""How far two raters agree."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Agreement(NamedTuple):
    """The share of n items that both raters labelled alike, and Cohen's kappa, None where it is not defined."""

    n: int
    share: float
    kappa: float | None


def agreement(pairs: Sequence[tuple[str, str]]) -> Agreement | None:
    """The agreement over pairs of labels; None without a pair.

    kappa = (p - e) / (1 - e), with p the share of equal pairs and e the one expected of raters that use their labels
    as often by chance (Cohen, Educational and Psychological Measurement 20, 1960); not defined where e is 1, both
    having given every item one and the same label.
    """
    if not pairs:
        return None
    n = len(pairs)
    share = sum(one == other for one, other in pairs) / n
    ones, others = (Counter(labels) for labels in zip(*pairs, strict=True))
    by_chance = sum(count * others[label] for label, count in ones.items())
    kappa = None if by_chance == n * n else (share - by_chance / n**2) / (1 - by_chance / n**2)
    return Agreement(n, share, kappa)
