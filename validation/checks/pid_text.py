"""A pid identifies one title and text."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.odd import odd_sql


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", pid, 'has another title or text than most passages with this pid' AS detail
        FROM ({odd_sql("pid", "text", "placements")}) JOIN placements USING (pid, text)
    """


CHECK = Check(
    name="pid_text",
    says="a passage has the same title and text in all rows",
    why="a passage was changed in some rows only, which may reveal them",
    severity="error",
    unit="instance",
    find=_find,
)
