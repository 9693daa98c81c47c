"""Values by hand, and intervals against a slow bootstrap of its own."""

import random
from pathlib import Path
from statistics import fmean, quantiles

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.protocols.oncu import recovery
from eval_harness.protocols.oncu.groups import grouped
from eval_harness.protocols.oncu.matched import FULL, NONE, ORACLE
from eval_harness.protocols.oncu.recovery import Estimate, estimates
from eval_harness.protocols.oncu.summary import shares
from tests.eval_harness.protocols.oncu.twelve import BM25, matched_of, rows_of

CONDITIONS = ("none", "context", "oracle")


def estimate(*instances: tuple[float, float, float]) -> Estimate:
    """The estimate of one field over instances of as many questions."""
    questions = [np.array(scores, float).reshape(1, 3, 1) for scores in instances]
    return estimates({"nq": questions}, CONDITIONS, ["f"], "x")["f"]


def test_twelve_instances_by_hand(tmp_path: Path) -> None:
    nq, fever = reversed(grouped(matched_of(tmp_path / "run", rows_of()), "task", {}))
    found = nq.fields["answer_f1"]
    assert nq.name == "nq"
    assert found.n == 8
    means = {method: interval.mean for method, interval in found.scores.items()}
    assert means == {NONE: 1.5 / 8, FULL: 4 / 8, BM25: 3.5 / 8, ORACLE: 6 / 8}
    assert found.advantage.mean == 4.5 / 8
    assert found.recovered[FULL].raw == pytest.approx(2.5 / 4.5)
    assert found.recovered[BM25].raw == pytest.approx(2 / 4.5)
    exact = nq.fields["answer_em"].recovered
    assert (exact[FULL].raw, exact[BM25].raw) == ((3 - 1) / (5 - 1), (3 - 1) / (5 - 1))
    evidence = nq.fields["evidence_f1"].recovered
    assert (evidence[FULL].raw, evidence[BM25].raw) == (4.5 / 8, 4 / 8)
    joint = nq.fields["joint_f1"]
    assert joint.scores[FULL].mean == (1 + 0 + 0.25 + 1 + 0 + 1 + 0 + 0) / 8  # products of each instance, not of means
    assert joint.recovered[FULL].raw == pytest.approx(3.25 / 6)
    assert nq.fields["retrieval_recall"].scores[BM25].mean == 7.5 / 8
    assert fever.fields["answer_f1"].scores[ORACLE].mean == 3 / 4
    assert not fever.fields["answer_f1"].valid
    assert fever.fields["answer_f1"].recovered[FULL] == (None, None, None)


def test_tasks_of_a_group_count_the_same(tmp_path: Path) -> None:
    """The mean over tasks, not over instances."""
    (group,) = grouped(matched_of(tmp_path / "run", rows_of()), "model", {})
    found = group.fields["answer_f1"]
    assert (group.name, found.n) == ("all tasks", 12)
    assert found.scores[NONE].mean == (1.5 / 8 + 3 / 4) / 2
    advantage = (6 / 8 + 3 / 4) / 2 - (1.5 / 8 + 3 / 4) / 2
    assert found.recovered[FULL].raw == pytest.approx(((4 / 8 + 2 / 4) / 2 - (1.5 / 8 + 3 / 4) / 2) / advantage)
    assert found.recovered[BM25].raw == pytest.approx(8 / 9)


def test_every_instance_a_group(tmp_path: Path) -> None:
    groups = grouped(matched_of(tmp_path / "run", rows_of()), "instance", {})
    assert [group.name for group in groups if group.fields["answer_f1"].valid] == [
        "fever-3",
        "nq-1",
        "nq-2",
        "nq-3",
        "nq-6",
        "nq-8",
    ]
    share = next(one for one in shares(groups, "instance") if one.field == "answer_f1")
    assert (share.groups, share.valid) == (12, 6)
    assert share.raw == {FULL: pytest.approx((0 + 1 + 0 + 0.5 + 1 + 0) / 6), BM25: pytest.approx((1 + 1 + 1) / 6)}
    assert share.intervals[FULL].mean == share.clipped[FULL]
    assert share.intervals[FULL].low < share.clipped[FULL] < share.intervals[FULL].high
    assert shares(groups, "task")[0].intervals == {}


def test_numerator_and_denominator_are_resampled_together() -> None:
    """A context that is the oracle recovers all of it in every resample, however much the instances differ."""
    found = estimate(*[(0, 1, 1), (0, 0, 0), (0, 0.2, 0.2)] * 8)
    assert found.advantage.low < found.advantage.high
    assert found.recovered["context"] == pytest.approx((1, 1, 1))


def slow_interval(instances: list[tuple[float, float, float]], resamples: int) -> tuple[float, float]:
    """R's interval in plain Python: whole instances drawn one by one."""
    chance = random.Random(5)
    ratios = []
    for _ in range(resamples):
        drawn = [chance.choice(instances) for _ in instances]
        none, context, oracle = (fmean(column) for column in zip(*drawn, strict=True))
        ratios.append((context - none) / (oracle - none))
    cuts = quantiles(ratios, n=40, method="inclusive")
    return cuts[0], cuts[-1]


def test_intervals_are_those_of_a_slow_bootstrap() -> None:
    chance = random.Random(3)
    instances = []
    for _ in range(40):
        oracle = chance.random()
        instances.append((0.3 * chance.random() * oracle, oracle * chance.choice((0.4, 0.8)), oracle))
    found = estimate(*instances).recovered["context"]
    low, high = slow_interval(instances, 4_000)
    assert high - low > 0.1
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)


def test_a_resample_without_an_advantage_is_none_and_too_many_of_them_give_no_interval() -> None:
    rare = estimate(*[(0, 1, 1), *[(0, 0, 0)] * 9])  # no advantage in 0.9^10 of the resamples
    assert rare.valid_resamples == pytest.approx(1 - 0.9**10, abs=0.02)
    assert rare.recovered["context"] == (1.0, None, None)
    sure = estimate(*[(0, 1, 1)] * 4, *[(0, 0, 0)] * 6)
    assert 0.98 < sure.valid_resamples < 1  # 1 - 0.6^10
    assert sure.recovered["context"] == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("scores", "raw", "clipped"),
    [
        ((0.5, 0.25, 0.75), -1.0, 0.0),  # worse than no evidence
        ((0.5, 1.0, 0.75), 2.0, 1.0),  # better than gold alone
        ((0.5, 0.5, 0.5), None, None),
        ((0.75, 1.0, 0.5), None, None),  # gold alone is worse than nothing
        ((0.1 + 0.2, 1.0, 0.3), None, None),  # equal but for rounding
    ],
)
def test_raw_and_clipped(scores: tuple[float, float, float], raw: float | None, clipped: float | None) -> None:
    found = estimate(scores).recovered["context"]
    assert found.raw == (raw if raw is None else pytest.approx(raw))
    assert found.clipped == clipped


def test_instances_of_one_question_are_drawn_together() -> None:
    """Ten questions, each at four depths with equal scores, are no more certain than ten instances."""
    scores = [(0.0, float(n % 2), 1.0) for n in range(10)]
    once = estimate(*scores)
    questions = [np.array([one] * 4, float).reshape(4, 3, 1) for one in scores]
    found = estimates({"nq": questions}, CONDITIONS, ["f"], "x")["f"]
    assert (found.n, once.n) == (40, 10)
    assert found.recovered["context"] == once.recovered["context"]


def test_questions_with_more_instances_weigh_more() -> None:
    questions = [np.array([[0.0, 1.0, 1.0]] * 3).reshape(3, 3, 1), np.array([[0.0, 0.0, 1.0]]).reshape(1, 3, 1)]
    assert estimates({"nq": questions}, CONDITIONS, ["f"], "x")["f"].recovered["context"].raw == 3 / 4


def test_seeds_are_names_and_blocks_change_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [np.array([0, at / 37, 1]).reshape(1, 3, 1) for at in range(38)]

    def found(*names: str) -> Estimate:
        return estimates({"nq": questions}, CONDITIONS, ["f"], *names)["f"]

    whole = found("x")
    assert whole == found("x") != found("y")
    monkeypatch.setattr(recovery, "_BLOCK", 3_000)
    assert found("x").recovered["context"] == pytest.approx(whole.recovered["context"], abs=0.01)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 3), min_size=1, max_size=6))
def test_no_evidence_recovers_nothing_and_the_oracle_all(instances: list[tuple[float, float, float]]) -> None:
    """The context's own score aside, R is 0 for the score without evidence and 1 for the oracle's."""
    nothing = estimate(*[(none, none, oracle) for none, _, oracle in instances])
    everything = estimate(*[(none, oracle, oracle) for none, _, oracle in instances])
    assert nothing.valid == everything.valid == (sum(i[2] for i in instances) > sum(i[0] for i in instances))
    if nothing.valid:
        assert nothing.recovered["context"].raw == pytest.approx(0)
        assert everything.recovered["context"].raw == pytest.approx(1)
