"""No passage occurs twice in a context."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", pid, 'occurs ' || count(*) || ' times' AS detail FROM placements
        WHERE pid IS NOT NULL GROUP BY "row", pid HAVING count(*) > 1
    """


CHECK = Check(
    name="passage_twice",
    says="no passage occurs twice in a context",
    why="a repeated passage replaces a distractor and draws attention",
    severity="error",
    unit="instance",
    find=_find,
)
