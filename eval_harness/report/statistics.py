"""Intervals and paired tests over questions, seeded by names; all tasks have equal weight."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from builders.seeds import order_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

RESAMPLES = 10_000
ENUMERATED = 13  # 2^13 sign patterns are fewer than RESAMPLES, so up to here all are enumerated
_BLOCK = 4_000_000  # numbers drawn at a time: 16 MB
_TIE = 1e-12  # rounding differences between sums in different orders are smaller

MACRO = "macro average"  # the mean over tasks of each task's mean


Instances = Sequence[float] | Sequence[Sequence[float]]  # values of a task's instances, or of each question's


class Interval(NamedTuple):
    """A mean with its 95 % interval, over n values."""

    mean: float
    low: float
    high: float
    n: int


class Change(NamedTuple):
    """A mean paired difference with its 95 % interval, over n pairs, and the two-sided p-value of no difference."""

    mean: float
    low: float
    high: float
    n: int
    p: float


class _Questions(NamedTuple):
    """Sums of values by question, and how many instances each question has."""

    sums: "Values"
    sizes: "Values"

    @property
    def n(self) -> int:
        """The number of instances."""
        return int(self.sizes.sum())

    @property
    def mean(self) -> float:
        """The mean over instances."""
        return float(self.sums.sum() / self.sizes.sum())


def generator(*names: str) -> np.random.Generator:
    """A random generator seeded by the names of an estimate alone."""
    return np.random.Generator(np.random.PCG64(int.from_bytes(order_key("report", *names), "big")))


def intervals(by_task: Mapping[str, Instances], *names: str) -> dict[str, Interval | None]:
    """The mean of each task, and the macro average, with percentile bootstrap intervals; None without a value.

    Each of 10,000 resamples draws from every task as many questions as it has, with replacement, and takes all
    instances of a question together; the bounds are the 2.5th and 97.5th percentiles (linear between order statistics)
    of the resampled means (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3). The macro
    average combines the tasks' resamples, and is None if a task has no value. `names` seed the draws, so give
    every estimate its own names.
    """
    values = {task: _by_question(found) for task, found in by_task.items()}
    draws = {task: _resampled_means(found, generator(*names, task)) for task, found in values.items() if found.n}
    found = {task: _interval(values[task].mean, draws[task], values[task].n) for task in draws}
    macro = None
    if draws and len(draws) == len(values):
        mean = sum(interval.mean for interval in found.values()) / len(found)
        macro = _interval(
            mean, np.mean(list(draws.values()), axis=0), sum(questions.n for questions in values.values())
        )
    return {task: found.get(task) for task in values} | {MACRO: macro}


def changes(differences: Mapping[str, Instances], *names: str) -> dict[str, Change | None]:
    """The mean of paired differences by task and for the macro average, with `intervals` and sign-flip p-values.

    Under the null hypothesis, each question's sum of differences is as likely to have the opposite
    sign. With T = |mean difference| (for the macro average, of the tasks' means), p is the share of sign patterns
    whose T is at least the observed one: exact over all 2^m patterns if m <= 13 questions differ, otherwise
    (1 + hits) / (1 + 10,000) over random patterns (Phipson and Smyth, Statistical Applications in Genetics and
    Molecular Biology 9, 2010).
    """
    values = {task: _by_question(found) for task, found in differences.items()}
    terms = {task: found.sums / found.n for task, found in values.items() if found.n}
    if len(terms) == len(values) > 0:
        # p does not depend on a common factor, so the number of tasks is left out
        terms[MACRO] = np.concatenate(list(terms.values()))
    return {
        task: Change(*found, _sign_flip_p(terms[task], generator(*names, task, "signs"))) if found else None
        for task, found in intervals(differences, *names).items()
    }


def holm(p_values: Sequence[float]) -> list[float]:
    """The Holm-adjusted p-values, in the same order (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def _interval(mean: float, resampled: "Values", n: int) -> Interval:
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Interval(mean, float(low), float(high), n)


def _by_question(instances: Instances) -> _Questions:
    groups = [np.atleast_1d(np.asarray(values, float)) for values in instances]
    return _Questions(
        np.array([values.sum() for values in groups]), np.array([float(len(values)) for values in groups])
    )


def _resampled_means(found: _Questions, rng: np.random.Generator) -> "Values":
    n = len(found.sums)
    rows = max(1, _BLOCK // n)
    means = []
    for start in range(0, RESAMPLES, rows):
        drawn = rng.integers(n, size=(min(rows, RESAMPLES - start), n), dtype=np.int32)
        means.append(found.sums[drawn].sum(axis=1) / found.sizes[drawn].sum(axis=1))
    return np.concatenate(means)


def _sign_flip_p(terms: "Values", rng: np.random.Generator) -> float:
    """The share of sign patterns under which the sum of the terms is at least as far from 0 as observed."""
    moving = terms[terms != 0]
    least = abs(moving.sum()) - _TIE
    if len(moving) <= ENUMERATED:
        patterns = (np.arange(2 ** len(moving))[:, None] >> np.arange(len(moving))) & 1
        return float(np.mean(_distances(patterns, moving) >= least))
    rows = max(1, _BLOCK // len(moving))
    blocks = [min(rows, RESAMPLES - start) for start in range(0, RESAMPLES, rows)]
    random = (rng.integers(2, size=(block, len(moving)), dtype=np.int8) for block in blocks)
    hits = sum(int((_distances(patterns, moving) >= least).sum()) for patterns in random)
    return (1 + hits) / (1 + RESAMPLES)


def _distances(patterns: "NDArray[np.integer]", terms: "Values") -> "Values":
    """The absolute sum of the terms under each pattern of signs."""
    return np.abs(np.where(patterns, terms, -terms).sum(axis=1))
