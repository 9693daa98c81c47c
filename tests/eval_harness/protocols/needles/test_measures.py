"""Measures over known similarities, worked out by hand, and against scikit-learn and slow ways to the same numbers."""

from collections.abc import Sequence
from math import sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from eval_harness.protocols.needles.measures import MEASURES, cell, resampled, weights_of
from eval_harness.protocols.needles.similarities import Line


def line(
    question: str, similarity: float, *, place: float | None = None, alone: float = 1.0, order: str = "default"
) -> Line:
    """A line of a haystack, or of a control where there is no place."""
    needle = None if place is None else "one_hop"
    depth = None if place is None else round(100 * place)
    return Line(
        "needles_128", "id", "kind", question, needle, needle and order, depth, place, "whole", 100, 0, 0, 5, False,
        similarity, alone, 0.5,
    )  # fmt: skip


def value(planted: Sequence[Line], controls: Sequence[Line], measure: str) -> float:
    found = cell(planted, controls, "one_hop").measures[measure]
    assert found is not None
    return found.mean


# Question A: the needle alone at cosine 0.8; question B: at 0.6. Two orders at the beginning and at the end.
PLANTED = [
    *(line("A", s, place=p, alone=0.8) for s, p in ((0.6, 0.0), (0.28, 1.0), (0.6, 0.0), (0.28, 1.0))),
    *(line("B", s, place=p, alone=0.6) for s, p in ((0.6, 0.0), (0.0, 1.0), (0.6, 0.0), (0.0, 1.0))),
]
CONTROLS = [
    line("A", 0.28, alone=0.8),
    line("A", 0.0, alone=0.8),
    line("B", 0.28, alone=0.6),
    line("B", 0.6, alone=0.6),
]

# normalised: A .75 .35 .75 .35, B 1 0 1 0; controls: A .35 0, B .28/.6 1
NORMALISED, CONTROL = 4.2 / 8, (0.35 + 0.28 / 0.6 + 1) / 4
SPREAD = 2 * (0.75**2 + 0.35**2 + 1) - 8 * NORMALISED**2  # sums of squares about the means
SPREAD_OF_CONTROLS = 0.35**2 + (0.28 / 0.6) ** 2 + 1 - 4 * CONTROL**2
WORKED_OUT = {
    "similarity": (2 * 0.6 + 2 * 0.28 + 2 * 0.6) / 8,
    "normalised": NORMALISED,
    "control": CONTROL,
    # A: .6 beats both controls, .28 ties and beats: 2 (2 + 1.5) of 8; B: .6 beats and ties, 0 loses: 2 (1.5) of 8
    "ratio": (7 + 3) / 16,
    "difference": NORMALISED - CONTROL,
    "effect_size": (NORMALISED - CONTROL) / sqrt((SPREAD + SPREAD_OF_CONTROLS) / (8 + 4 - 2)),
    # against (0, .35, .467, 1): .75 beats 3, .35 beats 1 and ties 1, 1 beats 3 and ties 1, 0 ties 1
    "auc": 2 * (3 + 1.5 + 3.5 + 0.5) / 32,
    "slope": (2 * 0.35 - 2 * (0.75 + 1)) / 4,  # mean at the end less mean at the beginning
    "correlation": -0.5 * (2 * (0.75 + 1) - 2 * 0.35) / sqrt(8 * 0.25 * SPREAD),
}


@pytest.mark.parametrize("measure", MEASURES)
def test_the_measure_is_the_one_worked_out(measure: str) -> None:
    assert value(PLANTED, CONTROLS, measure) == pytest.approx(WORKED_OUT[measure], abs=1e-12)


def test_counts() -> None:
    found = cell(PLANTED, CONTROLS, "one_hop")
    assert (found.questions, found.haystacks, found.invalid) == (2, 8, 0)


def test_intervals_are_over_questions() -> None:
    """Of two questions, a resample is AA or BB with a probability of 1/4 each, which is beyond 2.5 %."""
    found = cell(PLANTED, CONTROLS, "one_hop").measures
    assert found["normalised"] is not None
    assert found["normalised"][1:] == (pytest.approx(0.5), pytest.approx(0.55), 2)
    assert found["ratio"] is not None
    assert found["ratio"][1:3] == (pytest.approx(3 / 8), pytest.approx(7 / 8))


@settings(max_examples=60)
@given(st.data())
def test_auc_is_scikit_learns(data: st.DataObject) -> None:
    """Ties too: few different values, and all pairs of all questions."""
    values = st.lists(st.integers(0, 4), min_size=1, max_size=6)
    planted, controls = [], []
    for question in "ABC":
        planted += [line(question, v / 4, place=0.5) for v in data.draw(values)]
        controls += [line(question, v / 4) for v in data.draw(values)]
    truth = [1] * len(planted) + [0] * len(controls)
    expected = roc_auc_score(truth, [one.similarity for one in (*planted, *controls)])
    assert value(planted, controls, "auc") == pytest.approx(expected, abs=1e-12)


def test_resamples_are_those_of_a_slow_bootstrap() -> None:
    """Every measure of a resample is that of the lines repeated as often as their question was drawn."""
    rng = Random(3)
    planted = [line(q, rng.random(), place=rng.random(), alone=0.5 + rng.random()) for q in "ABCDE" for _ in range(6)]
    alone = {one.question: one.to_one_hop for one in planted}
    planted = [one._replace(to_one_hop=alone[one.question]) for one in planted]
    controls = [line(q, rng.random(), alone=alone[q]) for q in "ABCDE" for _ in range(3)]
    weights = weights_of(tuple("ABCDE"))
    assert (weights[0] == 1).all()
    assert (weights.sum(axis=1) == 5).all()
    slow: dict[str, list[float]] = {name: [] for name in ("normalised", "auc", "effect_size", "correlation", "slope")}
    for drawn in weights[1:40]:
        times = dict(zip("ABCDE", drawn.astype(int), strict=True))
        x = [one for one in planted for _ in range(times[one.question])]
        c = [one for one in controls for _ in range(times[one.question])]
        normal, other = ([one.similarity / one.to_one_hop for one in some] for some in (x, c))
        slow["normalised"].append(float(np.mean(normal)))
        slow["auc"].append(roc_auc_score([1] * len(x) + [0] * len(c), normal + other))
        pooled = np.sqrt(
            ((len(x) - 1) * np.var(normal, ddof=1) + (len(c) - 1) * np.var(other, ddof=1)) / (len(x) + len(c) - 2)
        )
        slow["effect_size"].append((np.mean(normal) - np.mean(other)) / pooled)
        places = [one.place for one in x]
        slow["correlation"].append(np.corrcoef(places, normal)[0, 1])
        slow["slope"].append(np.polyfit(places, normal, 1)[0])
    fast = resampled(planted, controls, "one_hop")
    for name, found in slow.items():
        assert list(fast[name][1:40]) == pytest.approx(found, abs=1e-9), name


def test_a_question_whose_needle_is_at_a_right_angle_is_left_out_of_normalised_measures() -> None:
    planted = [line("A", 0.5, place=0.5, alone=0.0), line("B", 0.3, place=0.5, alone=0.6)]
    controls = [line("A", 0.1, alone=0.0), line("B", 0.6, alone=0.6)]
    found = cell(planted, controls, "one_hop")
    assert found.invalid == 1
    assert value(planted, controls, "normalised") == pytest.approx(0.5)
    assert value(planted, controls, "auc") == 0
    assert value(planted, controls, "ratio") == 0.5  # of both questions
    assert value(planted, controls, "similarity") == pytest.approx(0.4)


def test_what_is_not_defined_is_no_number() -> None:
    planted = [line("A", 0.5, place=p, alone=0.0) for p in (0.0, 1.0)]
    found = cell(planted, [line("A", 0.1, alone=0.0)], "one_hop").measures
    assert found["normalised"] is found["auc"] is found["slope"] is None
    flat = [line(q, 0.5, place=p) for q in "AB" for p in (0.0, 0.5, 1.0)]
    found = cell(flat, [line(q, 0.5) for q in "AB"], "one_hop").measures
    assert found["correlation"] is found["effect_size"] is None
    assert found["slope"] is not None and found["slope"].mean == 0
    assert found["auc"] is not None and found["auc"].mean == 0.5
    assert cell(flat, [], "one_hop").measures["ratio"] is None


def test_controls_of_other_questions_do_not_count() -> None:
    planted = [line("A", 0.5, place=0.5)]
    assert value(planted, [line("A", 0.4), line("B", 0.9)], "auc") == 1
    assert value(planted, [line("A", 0.4), line("B", 0.9)], "ratio") == 1
