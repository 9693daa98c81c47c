"""Contexts have the confounding ratio of their config."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    # with whole passages, the number may be off by half a passage
    return """
        SELECT "row", NULL AS pid, CASE
            WHEN abs(confounding_ratio - achieved) > 1e-6
                THEN 'says ' || confounding_ratio || ', its passages say ' || round(achieved, 4)
            WHEN ratio IS NULL THEN c || ' confounders in a context of gold and random passages'
            ELSE c || ' confounders in ' || n || ' passages that are not gold, for ' || ratio || ' %' END AS detail
        FROM (SELECT *, CASE WHEN n > 0 THEN c / n ELSE 0 END AS achieved
              FROM (SELECT "row", count(*) FILTER (role = 'confounder') AS c, count(*) FILTER (role != 'gold') AS n
                    FROM placements GROUP BY "row"))
        JOIN instances USING ("row")
        WHERE abs(confounding_ratio - achieved) > 1e-6
           OR (ratio IS NOT NULL AND abs(c - ratio / 100 * n) > 0.5 + 1e-9)
           OR (shared AND c > 0)
           OR (ratio = 0 AND c > 0) OR (ratio = 100 AND c < n)
    """


CHECK = Check(
    name="ratio",
    says="the confounding ratio is stated correctly and as near to the config's as whole passages allow",
    why="the ratio defines an ICR² config",
    severity="error",
    unit="instance",
    find=_find,
)
