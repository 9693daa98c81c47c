from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.protocols.agreement import agreement

LABELS = st.sampled_from("abc")


def test_by_hand() -> None:
    """35 of 50 alike; by chance 25/50 * 30/50 + 25/50 * 20/50 = 0.5"""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    found = agreement(pairs)
    assert found
    assert (found.n, found.share, found.kappa) == (50, 0.7, pytest.approx(0.4))


def test_edges() -> None:
    assert agreement([]) is None
    assert agreement([("a", "a")] * 3) == (3, 1.0, None)  # chance alone would agree as much
    assert agreement([("a", "b")] * 3) == (3, 0.0, 0.0)
    assert agreement([("a", "a"), ("b", "b")]) == (2, 1.0, 1.0)
    assert agreement([("a", "b"), ("b", "a")]) == (2, 0.0, -1.0)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=12))
def test_kappa_by_its_formula(pairs: list[tuple[str, str]]) -> None:
    """(p - e) / (1 - e): p is the share of equal pairs, e the share if each rater drew from their own labels."""
    n = len(pairs)
    ones, others = (Counter(labels) for labels in zip(*pairs, strict=True))
    by_chance = Fraction(sum(count * others[label] for label, count in ones.items()), n * n)
    share = Fraction(sum(one == other for one, other in pairs), n)
    found = agreement(pairs)
    assert found
    if by_chance == 1:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(float((share - by_chance) / (1 - by_chance)))
