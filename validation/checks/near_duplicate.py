"""No two non-gold passages of a context repeat each other."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.similar import near_texts


def _find(m: Measures) -> str:
    return f"""
        SELECT p."row", p.pid, 'nearly repeats ' || min(q.pid) AS detail
        FROM {near_texts(m)} n JOIN placements p ON p.text = n.a
        JOIN placements q ON q.text = n.b AND q."row" = p."row"
        WHERE p.role != 'gold' AND q.role != 'gold' AND q."position" < p."position" GROUP BY ALL
        UNION ALL
        SELECT "row", max_by(pid, "position"), 'has the title and text of ' || min_by(pid, "position") FROM placements
        GROUP BY "row", text HAVING count(DISTINCT pid) > 1
    """


CHECK = Check(
    name="near_duplicate",
    says="no two non-gold passages of a context share 90 % of the smaller one's word pairs",
    why="the context contains less than its length suggests",
    severity="error",
    unit="instance",
    find=_find,
)
