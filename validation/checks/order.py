"""Passages shared by two contexts of an instance have the same order."""

from validation.checks.base import Check
from validation.checks.nested import longer
from validation.measures import Measures


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", min(pid) AS pid, 'has another order in ' || other_config AS detail
        FROM (SELECT "row", p.pid, q."position" AS there, other_config,
                     lag(q."position") OVER (PARTITION BY "row", other ORDER BY p."position") AS before
              FROM (SELECT "row", longer AS other, longer_config AS other_config FROM {longer(m)}
                    UNION ALL
                    SELECT * FROM (
                        SELECT "row", lead("row") OVER next AS other, lead(config) OVER next AS other_config
                        FROM instances WHERE ratio IS NOT NULL
                        WINDOW next AS (PARTITION BY id, split, family, length ORDER BY ratio))
                    WHERE other IS NOT NULL) pairs
              JOIN placements p USING ("row")
              JOIN placements q ON q."row" = pairs.other AND q.pid = p.pid)
        WHERE there < before GROUP BY "row", other_config
    """


CHECK = Check(
    name="order",
    says="passages shared by contexts of one instance keep their relative order",
    why="a change of score between configs could come from a passage that moved",
    severity="error",
    unit="instance",
    find=_find,
)
