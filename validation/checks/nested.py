"""A shorter context is a subset of a longer one."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return f"""
        SELECT p."row", p.pid, 'is not in the context of ' || longer_config AS detail
        FROM {longer(m)} s JOIN placements p ON p."row" = s."row"
        ANTI JOIN placements q ON q."row" = s.longer AND q.pid = p.pid AND q.text = p.text
    """


def longer(m: Measures) -> str:
    """The table of pairs: a row, and that of the same instance and ratio at the next length."""
    return m.shared(
        "longer",
        """SELECT * FROM (
            SELECT "row", lead("row") OVER next AS longer, lead(config) OVER next AS longer_config FROM instances
            WHERE nested WINDOW next AS (PARTITION BY id, split, family, ratio ORDER BY budget NULLS FIRST))
        WHERE longer IS NOT NULL""",
    )


CHECK = Check(
    name="nested",
    says="a shorter context is a subset of the longer one of the same instance and ratio",
    why="a change of score with length could come from other passages instead of more of them",
    severity="error",
    unit="instance",
    find=_find,
)
