"""The share of the oracle's advantage that a context recovers (ONCU), with intervals over instances.

For a score S of a group of instances and a context c, R_c = (S_c - S_no) / (S_oracle - S_no), where S_no is the
closed_book score and S_oracle the oracle score (Xia 2026, arXiv 2606.06758). It is defined if S_oracle > S_no.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eval_harness.report.statistics import RESAMPLES, Interval, generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

LEAST_VALID = 0.95  # share of resamples with a valid denominator below which quantiles are not an interval
_BLOCK = 4_000_000  # numbers drawn at a time: 32 MB
_ZERO = 1e-9  # rounding differences between sums in different orders are smaller


class Recovery(NamedTuple):
    """R of one context with its 95 % interval; None if undefined, or if too few resamples define it."""

    raw: float | None
    low: float | None
    high: float | None

    @property
    def clipped(self) -> float | None:
        """R clipped to [0, 1]."""
        return None if self.raw is None else clip(self.raw)


class Estimate(NamedTuple):
    """One score field of a group of n instances.

    `scores` are by condition; `advantage` is S_oracle - S_no, `valid_resamples` the share of resamples in which it
    is positive; `recovered` is by context.
    """

    n: int
    scores: dict[str, Interval]
    advantage: Interval
    valid_resamples: float
    recovered: dict[str, Recovery]

    @property
    def valid(self) -> bool:
        """Whether R is defined."""
        return self.advantage.mean > _ZERO


def estimates(
    by_task: Mapping[str, Sequence["Values"]], conditions: Sequence[str], fields: Sequence[str], *names: str
) -> dict[str, Estimate]:
    """The estimate of every field, from an array (instances, conditions, fields) for each question of each task.

    The first condition is closed_book and the last oracle. A group's score is the mean over its tasks
    of the means over their instances. Each of 10,000 resamples draws, from every task, as many questions as it has,
    with replacement, and takes all instances of a question and all conditions of an instance together; bounds are the
    2.5th and 97.5th percentiles. `names` seed the draws.
    """
    shape = (-1, len(conditions), len(fields))
    means, resampled = [], []
    for task, questions in sorted(by_task.items()):
        sizes = np.array([len(instances) for instances in questions], float)
        sums = np.array([instances.sum(axis=0).ravel() for instances in questions])
        means.append(sums.sum(axis=0) / sizes.sum())
        resampled.append(_resampled_means(sums, sizes, generator("oncu", *names, task)))
    points = np.mean(means, axis=0).reshape(shape)[0]
    draws = (sum(resampled[1:], resampled[0]) / len(resampled)).reshape(shape)
    n = sum(len(instances) for questions in by_task.values() for instances in questions)
    return {field: _estimate(points[:, place], draws[:, :, place], conditions, n) for place, field in enumerate(fields)}


def clip(value: float) -> float:
    """A value clipped to [0, 1]."""
    return min(1.0, max(0.0, value))


def _estimate(point: "Values", draws: "Values", conditions: Sequence[str], n: int) -> Estimate:
    advantage, advantages = point[-1] - point[0], draws[:, -1] - draws[:, 0]
    valid = advantages > _ZERO
    recovered = {}
    for place, condition in enumerate(conditions[1:-1], start=1):
        low, high = None, None
        if advantage > _ZERO and valid.mean() >= LEAST_VALID:
            low, high = _bounds((draws[valid, place] - draws[valid, 0]) / advantages[valid])
        raw = float((point[place] - point[0]) / advantage) if advantage > _ZERO else None
        recovered[condition] = Recovery(raw, low, high)
    scores = {
        condition: Interval(float(point[place]), *_bounds(draws[:, place]), n)
        for place, condition in enumerate(conditions)
    }
    return Estimate(n, scores, Interval(float(advantage), *_bounds(advantages), n), float(valid.mean()), recovered)


def _bounds(draws: "Values") -> tuple[float, float]:
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(low), float(high)


def _resampled_means(sums: "Values", sizes: "Values", rng: np.random.Generator) -> "Values":
    """Means over resampled questions of the columns of `sums`, an array (resamples, columns); of one question, one."""
    n = len(sizes)
    if n == 1:
        return sums / sizes[:, None]
    rows = max(1, _BLOCK // n)
    blocks = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    chances = np.full(n, 1 / n)
    drawn = (rng.multinomial(n, chances, size=block).astype(float) for block in blocks)
    return np.concatenate([(times @ sums) / (times @ sizes)[:, None] for times in drawn])
