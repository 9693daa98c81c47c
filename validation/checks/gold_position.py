"""Gold may stand anywhere in a context."""

from collections import defaultdict

from validation.checks.base import Check
from validation.measures import Measures

BINS = 5
LEAST = 30  # gold passages, below which a test says nothing
CHANCE = 0.001  # that a dataset without a fault fails this check, over all its splits


def _find(m: Measures) -> str:
    from scipy.stats import chi2

    observed: dict[tuple, list[float]] = defaultdict(lambda: [0.0] * BINS)
    expected: dict[tuple, list[float]] = defaultdict(lambda: [0.0] * BINS)
    for config, split, n, bin_, count in m.sql(f"""
        SELECT config, split, n_passages, floor("position" * {BINS} / n_passages)::INTEGER, count(*) FROM (
            SELECT DISTINCT config, split, coalesce(context_id, id), n_passages, "position"
            FROM placements JOIN instances USING ("row") WHERE is_gold AND n_passages >= {BINS})
        GROUP BY ALL ORDER BY ALL"""):
        observed[config, split][bin_] += count
        for position in range(n):
            expected[config, split][position * BINS // n] += count / n
    tests = {}
    for group, counts in observed.items():
        if sum(counts) >= LEAST:
            statistic = sum((o - e) ** 2 / e for o, e in zip(counts, expected[group], strict=True))
            tests[group] = float(chi2.sf(statistic, BINS - 1))
    least = min(tests.values(), default=1.0)
    m.figures["gold_position"] = {"splits tested": len(tests), "least p-value": float(f"{least:.3g}")}
    found = [
        (*group, None, None, f"gold by fifths of the context: {[int(n) for n in observed[group]]}, p = {p:.1e}")
        for group, p in tests.items()
        if p < CHANCE / len(tests)
    ]
    return m.found("gold_position", found)


CHECK = Check(
    name="gold_position",
    says="gold stands in every part of the context equally often (chi-square over five parts)",
    why="a model could find gold by its place, and scores would mix position with retrieval",
    severity="error",
    unit="split",
    find=_find,
)
