"""Measures over the haystacks of one needle (one_hop or literal) and the controls of the same questions.

With h a haystack with a needle, c a control, q the question and n the needle alone in default order:

- similarity: the mean cos(q, h); normalised: the mean cos(q, h) / cos(q, n); control: the same of controls;
- ratio: the share of pairs (haystack, control) of one question in which h is closer to q; a tie counts half;
- difference: normalised minus control; effect_size: the difference in pooled standard deviations (Cohen's d);
- auc: the area under the ROC curve of the normalised similarity, over all pairs of all questions; a tie counts half;
- correlation and slope: Pearson's and the least-squares slope of the normalised similarity over the needle's position
  (0 to 1), so the slope is the change from the beginning to the end of a text.

Normalised measures exclude questions whose cos(q, n) is not above 0. Intervals are percentile bootstrap intervals
over questions, 10,000 resamples, the same draws for every measure: a question's haystacks and controls stay together.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eval_harness.protocols.needles.haystacks import Needle
from eval_harness.protocols.needles.similarities import Line
from eval_harness.report.statistics import RESAMPLES, Interval, generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

MEASURES = (
    "similarity",
    "normalised",
    "control",
    "ratio",
    "difference",
    "effect_size",
    "auc",
    "correlation",
    "slope",
)
NORMALISED = frozenset(MEASURES) - {"similarity", "ratio"}
_FLAT = 1e-12  # standard deviations below it count as 0


class Cell(NamedTuple):
    """The measures of some haystacks, None if undefined; `invalid` questions are excluded from normalised measures."""

    questions: int
    haystacks: int
    invalid: int
    measures: dict[str, Interval | None]


def cell(planted: Sequence[Line], controls: Sequence[Line], needle: Needle) -> Cell:
    """The measures of haystacks with one kind of needle, and controls of the same questions."""
    questions = {line.question for line in planted}
    invalid = {line.question for line in planted if line.baseline(needle) <= 0}
    found = resampled(planted, controls, needle)
    counted = {name: len(questions) - (name in NORMALISED and len(invalid)) for name in MEASURES}
    return Cell(
        len(questions),
        len(planted),
        len(invalid),
        {name: _interval(found[name], counted[name]) if name in found else None for name in MEASURES},
    )


def resampled(planted: Sequence[Line], controls: Sequence[Line], needle: Needle) -> "dict[str, Values]":
    """Each measure, first on the original questions and then on 10,000 resamples; NaN if undefined."""
    every = _Sample(planted, controls)
    valid = [line for line in planted if line.baseline(needle) > 0]
    return dict(_raw(every)) | (dict(_normalised(_Sample(valid, controls, needle))) if valid else {})


class _Sample:
    """Values of haystacks and controls, divided by the similarity of the needle alone if given."""

    def __init__(self, planted: Sequence[Line], controls: Sequence[Line], needle: Needle | None = None) -> None:
        questions = sorted({line.question for line in planted})
        number = {question: at for at, question in enumerate(questions)}
        controls = [line for line in controls if line.question in number]

        def value(line: Line) -> float:
            return line.similarity / line.baseline(needle) if needle else line.similarity

        self.n = len(questions)
        self.weights = weights_of(tuple(questions))
        self.of_planted = np.array([number[line.question] for line in planted], dtype=int)
        self.of_controls = np.array([number[line.question] for line in controls], dtype=int)
        self.planted, self.controls = (
            np.array([value(line) for line in lines], dtype=float) for lines in (planted, controls)
        )
        self.places = np.array([line.place for line in planted], dtype=float)

    def planted_sums(self, values: "Values") -> "Values":
        """For each resample, the sum of values of haystacks."""
        return self.weights @ np.bincount(self.of_planted, values, self.n)

    def control_sums(self, values: "Values") -> "Values":
        """For each resample, the sum of values of controls."""
        return self.weights @ np.bincount(self.of_controls, values, self.n)

    def wins(self) -> "Values":
        """Pairs (question of a haystack, question of a control) in which the haystack has the larger value."""
        won = np.zeros((self.n, self.n))
        for other in range(self.n):
            against = np.sort(self.controls[self.of_controls == other])
            below, up_to = (np.searchsorted(against, self.planted, side=side) for side in ("left", "right"))
            won[:, other] = np.bincount(self.of_planted, (below + up_to) / 2, self.n)
        return won

    def pairs(self) -> "Values":
        """All pairs of haystacks and controls, by their questions."""
        planted, controls = (np.bincount(of, minlength=self.n) for of in (self.of_planted, self.of_controls))
        return np.outer(planted, controls).astype(float)


def _raw(of: _Sample) -> "Iterator[tuple[str, Values]]":
    yield "similarity", of.planted_sums(of.planted) / of.planted_sums(np.ones_like(of.planted))
    yield "ratio", _divided(of.weights @ np.diag(of.wins()), of.weights @ np.diag(of.pairs()))


def _normalised(of: _Sample) -> "Iterator[tuple[str, Values]]":
    n, m = (sums(np.ones_like(v)) for sums, v in ((of.planted_sums, of.planted), (of.control_sums, of.controls)))
    mean, control = of.planted_sums(of.planted) / n, _divided(of.control_sums(of.controls), m)
    centre = float(of.planted.mean())  # centred, so that sums of squares keep their precision
    spread = _squares(of.planted_sums, of.planted - centre, n) + _squares(of.control_sums, of.controls - centre, m)
    deviation = np.sqrt(_divided(spread, n + m - 2))
    yield "normalised", mean
    yield "control", control
    yield "difference", mean - control
    yield "effect_size", _divided(mean - control, np.where(deviation > _FLAT, deviation, 0.0))
    yield "auc", _divided(_quadratic(of.weights, of.wins()), _quadratic(of.weights, of.pairs()))
    yield from _position(of, n, centre)


def _position(of: _Sample, n: "Values", centre: float) -> "Iterator[tuple[str, Values]]":
    x, y = of.places - 0.5, of.planted - centre
    xx, yy = _squares(of.planted_sums, x, n), _squares(of.planted_sums, y, n)
    xy = of.planted_sums(x * y) - of.planted_sums(x) * of.planted_sums(y) / n
    xx, yy = (np.where(np.sqrt(squares / n) > _FLAT, squares, 0.0) for squares in (xx, yy))
    yield "correlation", _divided(xy, np.sqrt(xx * yy))
    yield "slope", _divided(xy, xx)


def _squares(sums: "Callable[[Values], Values]", values: "Values", n: "Values") -> "Values":
    """For each resample, the sum of squared distances from the mean."""
    return np.maximum(sums(values**2) - _divided(sums(values) ** 2, n, 0.0), 0.0)


def _quadratic(weights: "Values", by_pair: "Values") -> "Values":
    return ((weights @ by_pair) * weights).sum(axis=1)


def _divided(values: "Values", by: "Values", otherwise: float = np.nan) -> "Values":
    return np.divide(values, by, out=np.full_like(values, otherwise), where=by != 0)


def _interval(found: "Values", n: int) -> Interval | None:
    resampled = found[1:][np.isfinite(found[1:])]
    if not np.isfinite(found[0]) or not len(resampled):
        return None
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Interval(float(found[0]), float(low), float(high), n)


@lru_cache(64)
def weights_of(questions: tuple[str, ...]) -> "Values":
    """Draw counts of each question: first one each, then those of 10,000 resamples."""
    n = len(questions)
    draws = generator("needles", *questions).multinomial(n, np.full(n, 1 / n), RESAMPLES)
    return np.vstack([np.ones(n), draws]).astype(float)
