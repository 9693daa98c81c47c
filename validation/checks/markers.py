"""No layout marker of the knowledge source is left in a passage."""

from validation.checks.base import Check
from validation.measures import Measures

MARKS = r"BULLET::::|(^|\n)\s*Section::::"  # the second may occur in a sentence; only at its start is it a marker


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", pid, 'contains a layout marker, in a ' || role || ' passage' AS detail
        FROM (SELECT text FROM texts WHERE regexp_matches(body, '{MARKS}') OR regexp_matches(title, '{MARKS}'))
        JOIN placements USING (text)
    """


CHECK = Check(
    name="markers",
    says="no passage contains a layout marker of the source (BULLET::::, a leading Section::::)",
    why="if only gold or only distractors were cleaned, the marker reveals gold",
    severity="error",
    unit="instance",
    find=_find,
)
