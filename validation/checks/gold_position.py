"""Gold is uniformly distributed over the context."""

from collections import Counter, defaultdict

from validation.checks.base import Check
from validation.measures import Measures

BINS = 5
LEAST = 30  # gold passages needed for a meaningful test
CHANCE = 0.001  # probability that a sound dataset fails this check, over all its splits

Counts = dict[tuple[str, str], Counter[int]]  # by config and split: gold in each part


def _find(m: Measures) -> str:
    from scipy.stats import chi2

    tests, counts = {}, {}
    for parts, (observed, expected) in {"fifths of the context": _fifths(m), "depths": _depths(m)}.items():
        for group, wanted in expected.items():
            found = [observed[group][part] for part in sorted(wanted)]
            if sum(found) >= LEAST and len(found) > 1:
                statistic = sum((o - e) ** 2 / e for o, (_, e) in zip(found, sorted(wanted.items()), strict=True))
                tests[group, parts] = float(chi2.sf(statistic, len(found) - 1))
                counts[group, parts] = found
    least = min(tests.values(), default=1.0)
    m.figures["gold_position"] = {"splits tested": len(tests), "least p-value": float(f"{least:.3g}")}
    offences = [
        (*group, None, None, f"gold by {parts}: {counts[group, parts]}, p = {p:.1e}")
        for (group, parts), p in tests.items()
        if p < CHANCE / len(tests)
    ]
    return m.found("gold_position", offences)


def _fifths(m: Measures) -> tuple[Counts, Counts]:
    """Gold in each fifth of contexts without a depth: observed and expected counts."""
    observed: Counts = defaultdict(Counter)
    expected: Counts = defaultdict(Counter)
    for config, split, n, fifth, count in m.sql(f"""
        SELECT config, split, n_passages, floor("position" * {BINS} / n_passages)::INTEGER, count(*) FROM (
            SELECT DISTINCT config, split, coalesce(context_id, id), n_passages, "position"
            FROM placements JOIN instances USING ("row")
            WHERE is_gold AND n_passages >= {BINS} AND depth IS NULL)
        GROUP BY ALL ORDER BY ALL"""):
        observed[config, split][fifth] += count
        for position in range(n):
            expected[config, split][position * BINS // n] += count / n
    return observed, expected


def _depths(m: Measures) -> tuple[Counts, Counts]:
    """Contexts at each depth: observed counts, and equal expected ones."""
    observed: Counts = defaultdict(Counter)
    expected: Counts = defaultdict(Counter)
    for config, split, depth, count, share in m.sql("""
        SELECT config, split, depth, count(*), avg(count(*)) OVER (PARTITION BY config, split)
        FROM instances WHERE depth IS NOT NULL GROUP BY config, split, depth ORDER BY ALL"""):
        observed[config, split][depth], expected[config, split][depth] = count, share
    return observed, expected


CHECK = Check(
    name="gold_position",
    says="gold is equally frequent in every part of the context (chi-square over fifths or stated depths)",
    why="a model could find gold by its position, and scores would mix position with retrieval",
    severity="error",
    unit="split",
    find=_find,
)
