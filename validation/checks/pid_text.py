"""A pid stands for one title and text."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", pid, 'has another title or text than most passages of this pid' AS detail
        FROM (SELECT *, row_number() OVER (PARTITION BY pid ORDER BY n DESC, text) AS place
              FROM (SELECT pid, text, count(*) AS n FROM placements WHERE pid IS NOT NULL GROUP BY ALL))
        JOIN placements USING (pid, text) WHERE place > 1
    """


CHECK = Check(
    name="pid_text",
    says="a passage has the same title and text wherever it stands",
    why="a passage was changed in some rows only, which may mark them",
    severity="error",
    unit="instance",
    find=_find,
)
