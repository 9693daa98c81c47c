"""No mark of the knowledge source's layout is left in a passage."""

from validation.checks.base import Check
from validation.measures import Measures

MARKS = r"BULLET::::|(^|\n)\s*Section::::"  # a sentence may speak of the second; only at its start is it a mark


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", pid, 'holds a mark of the source, in a ' || role || ' passage' AS detail
        FROM (SELECT text FROM texts WHERE regexp_matches(body, '{MARKS}') OR regexp_matches(title, '{MARKS}'))
        JOIN placements USING (text)
    """


CHECK = Check(
    name="markers",
    says="no passage holds a mark of the source's layout (BULLET::::, a leading Section::::)",
    why="where gold was cleaned and distractors were not, or the other way, the mark gives gold away",
    severity="error",
    unit="instance",
    find=_find,
)
