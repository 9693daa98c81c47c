"""Right values by hand, from the binomial distribution, or from SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_harness.report import statistics
from eval_harness.report.statistics import MACRO, changes, holm, intervals

VALUES = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0]), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 1, 1], 2 / 8),  # +++ and --- of eight
        ([1, -1], 1.0),
        ([1, 1, 1, 1, 1, -1], 14 / 64),  # |sum| >= 4: two with 6, twelve with 4; the sign test's value
        ([1, 1, 1, 0, 0], 2 / 8),  # what does not differ says nothing
        ([0, 0], 1.0),
        ([0.5, 0.25], 2 / 4),
    ],
)
def test_few_differences_are_tested_exactly(differences: list[float], p: float) -> None:
    found = changes({"nq": differences}, "x")["nq"]
    assert found
    assert found.p == p
    assert found.n == len(differences)
    assert found.mean == pytest.approx(sum(differences) / len(differences))


def test_many_differences_are_near_the_sign_test() -> None:
    from scipy.stats import binomtest

    for ups, downs in ((20, 10), (25, 12), (18, 18)):
        found = changes({"nq": [1.0] * ups + [-1.0] * downs + [0.0] * 5}, "x")["nq"]
        assert found
        assert found.p == pytest.approx(binomtest(ups, ups + downs).pvalue, abs=0.015)
    found = changes({"nq": [1.0] * 40}, "x")["nq"]
    assert found
    assert found.p == 1 / 10_001  # never 0


def test_the_macro_average_gives_each_task_the_same_weight() -> None:
    found = changes({"nq": [1.0, 1.0], "wow": [1.0]}, "x")[MACRO]
    assert found
    assert (found.mean, found.n, found.p) == (1.0, 3, 2 / 8)
    found = changes({"nq": [1.0, 1.0], "wow": [-1.0]}, "x")[MACRO]
    assert found
    assert (found.mean, found.p) == (0.0, 1.0)  # pooled over instances it would be 1/3
    macro = intervals({"nq": [1.0] * 9 + [0.0], "wow": [0.0, 1.0]}, "x")[MACRO]
    assert macro
    assert macro.mean == pytest.approx(0.7)


def test_the_interval_of_a_share_is_the_binomial_one() -> None:
    from scipy.stats import binom

    for ones, n in ((12, 30), (3, 100), (150, 200)):
        found = intervals({"nq": [1.0] * ones + [0.0] * (n - ones)}, "x")["nq"]
        assert found
        low, high = binom.ppf([0.025, 0.975], n, ones / n) / n
        assert abs(found.low - low) <= 1 / n + 1e-9
        assert abs(found.high - high) <= 1 / n + 1e-9


def test_the_interval_of_a_macro_average_is_narrower_than_its_tasks() -> None:
    """Two independent tasks of equal spread: the standard error falls by the square root of two."""
    scores = [0.0, 1.0] * 50
    found = intervals({"nq": scores, "wow": scores}, "x")
    one, macro = found["nq"], found[MACRO]
    assert one
    assert macro
    assert (macro.high - macro.low) / (one.high - one.low) == pytest.approx(2**-0.5, abs=0.05)


def test_blocks_change_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_BLOCK", 3_000)
    found = changes({"nq": [1.0] * 20 + [-1.0] * 10}, "x")["nq"]
    assert found
    assert found.low == pytest.approx(0.0, abs=0.07)  # 20/30 less 1.96 standard errors, doubled, less 1
    assert found.p == pytest.approx(0.099, abs=0.015)


def test_instances_of_one_question_are_drawn_together() -> None:
    """Eleven equal answers to each of 30 questions say as much as one: the interval is that of 30."""
    alone = [1.0] * 12 + [0.0] * 18
    one, repeated = (intervals({"nq": values}, "x")["nq"] for values in (alone, [[value] * 11 for value in alone]))
    assert one and repeated
    assert repeated[:3] == pytest.approx(one[:3])
    assert (one.n, repeated.n) == (30, 330)
    uneven = intervals({"nq": [[1.0, 1.0, 1.0], [0.0]]}, "x")["nq"]
    assert uneven
    assert uneven.mean == 0.75  # over instances
    found = changes({"nq": [[1.0, 1.0, -1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]}, "x")["nq"]
    assert found
    assert found.p == 2 / 8  # three questions, whose sums are 1, 1 and 3


def test_no_value_is_no_estimate() -> None:
    assert intervals({}, "x") == {MACRO: None}
    found = intervals({"nq": [1.0], "wow": []}, "x")
    assert found["wow"] is None
    assert found[MACRO] is None
    assert found["nq"] == (1.0, 1.0, 1.0, 1)
    assert changes({"nq": []}, "x") == {"nq": None, MACRO: None}


def test_draws_depend_on_names_alone() -> None:
    scores = {"nq": list(np.linspace(0, 1, 40))}
    assert intervals(scores, "a", "b") == intervals(scores, "a", "b")
    assert intervals(scores, "a", "b") != intervals(scores, "ab")


@settings(max_examples=25, deadline=None)
@given(VALUES)
def test_intervals_lie_within_the_values(values: list[float]) -> None:
    found = intervals({"nq": values}, "x")["nq"]
    assert found
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


@settings(max_examples=25, deadline=None)
@given(VALUES)
def test_the_other_way_round_is_the_mirror_image(values: list[float]) -> None:
    one = changes({"nq": values}, "x")["nq"]
    other = changes({"nq": [-value for value in values]}, "x")["nq"]
    assert one
    assert other
    assert other.p == one.p
    assert (other.mean, other.low, other.high) == pytest.approx((-one.mean, -one.high, -one.low))


def test_holm_by_hand() -> None:
    """0.01 * 3; then 0.03 * 2; then 0.04 * 1, which may not fall below the one before."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
