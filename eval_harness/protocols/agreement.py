"""Agreement between two raters."""

from collections.abc import Sequence
from typing import NamedTuple


class Agreement(NamedTuple):
    """The share of n items with equal labels, and Cohen's kappa, None if undefined."""

    n: int
    share: float
    kappa: float | None


def agreement(pairs: Sequence[tuple[str, str]]) -> Agreement | None:
    """The agreement over pairs of labels; None without pairs.

    Kappa is scikit-learn's (Cohen, Educational and Psychological Measurement 20, 1960); it is undefined if both
    raters give every item the same label.
    """
    from sklearn.metrics import cohen_kappa_score

    if not pairs:
        return None
    ones, others = zip(*pairs, strict=True)
    share = sum(one == other for one, other in pairs) / len(pairs)
    defined = len({*ones, *others}) > 1
    return Agreement(len(pairs), share, float(cohen_kappa_score(ones, others)) if defined else None)
