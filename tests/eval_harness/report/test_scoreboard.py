from collections.abc import Callable

import pytest

from eval_harness.report.matched import scores_by_setting
from eval_harness.report.scoreboard import effective_length, falls, slopes_of, standings
from eval_harness.report.statistics import MACRO
from eval_harness.report.study import Study
from eval_harness.run.facts import ConfigFacts
from tests.eval_harness.report.conftest import make_row

Make = Callable[..., Study]
FACTS = {f"{n}k_p0": ConfigFacts("icr2", f"{n}k", 1024 * n, 0) for n in (1, 2, 4)}


def test_a_slope_by_hand() -> None:
    """Doublings 10, 11, 12: (-1 * 1 + 0 * 1 + 1 * 0) / 2; the slope of a mean is the mean of the slopes."""
    key, other = ("nq", "1"), ("nq", "2")
    scores = {"1k_p0": {key: 1.0, other: 0.0}, "2k_p0": {key: 1.0, other: 0.0}, "4k_p0": {key: 0.0, other: 0.5}}
    assert slopes_of(scores, FACTS) == {key: -0.5, other: 0.25}
    assert slopes_of({"1k_p0": {key: 1.0}, "4k_p0": {key: 0.0}}, FACTS) == {key: -0.5}  # two doublings


@pytest.mark.parametrize(
    ("means", "length"),
    [
        ({"4k_p0": 0.5, "1k_p0": 0.8, "2k_p0": 0.7}, "2k"),  # 0.85 * 0.8 = 0.68
        ({"1k_p0": 0.8, "2k_p0": 0.5, "4k_p0": 0.8}, "1k"),  # what recovers later does not count
        ({"1k_p0": 0.8, "2k_p0": 0.9}, "2k or more"),
        ({"1k_p0": 0.0, "2k_p0": 0.9}, "–"),
    ],
)
def test_effective_length(means: dict[str, float], length: str) -> None:
    assert effective_length(means, FACTS) == length


def test_a_fall_takes_instances_counted_at_every_length(study_of: Make) -> None:
    rows = [make_row(f"nq-{n}", 1.0, config=config) for n in (1, 2) for config in ("1k_p0", "2k_p0")]
    rows += [make_row("nq-1", 0.0, config="4k_p0"), make_row("nq-2", None, config="4k_p0", status="overlength")]
    rows += [make_row("nq-1", 1.0, config=c, method="closed_book", prompt="same") for c in ("1k_p0", "2k_p0")]
    study = study_of(rows)
    (fall,) = falls(study, scores_by_setting(study))
    assert (fall.method, fall.configs, fall.effective) == ("vanilla_rag", ("1k_p0", "2k_p0", "4k_p0"), "2k")
    slope = fall.slopes["nq"]
    assert slope
    assert (slope.n, slope.mean, slope.p) == (1, -0.5, 1.0)


def test_standings_have_intervals_by_task_and_for_the_macro_average(study_of: Make) -> None:
    """0.75 by name, and every task's own score beside it."""
    rows = [make_row(f"nq-{n}", float(n % 2)) for n in range(10)]
    rows += [make_row(f"fever-{n}", 1.0, task="fever") for n in range(2)]
    study = study_of(rows)
    (standing,) = standings(study.rows, study)
    assert {task: found.mean for task, found in standing.intervals.items() if found} == {
        "fever": 1.0,
        "nq": 0.5,
        MACRO: 0.75,
    }


def test_nothing_counted_is_no_score(study_of: Make) -> None:
    study = study_of([make_row("nq-1", None, status="overlength"), make_row("fever-1", 1.0, task="fever")])
    (standing,) = standings(study.rows, study)
    assert standing.intervals["nq"] is None
    assert standing.intervals[MACRO] is None
