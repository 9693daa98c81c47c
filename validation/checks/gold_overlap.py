"""No other passage repeats a gold passage."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.similar import near_texts


def _find(m: Measures) -> str:
    return f"""
        SELECT p."row", p.pid, 'repeats the gold passage ' || min(g.pid) AS detail
        FROM (SELECT a, b FROM {near_texts(m)} UNION ALL SELECT text, text FROM texts) n
        JOIN placements g ON g.text = n.a AND g.is_gold
        JOIN placements p ON p.text = n.b AND p."row" = g."row" AND NOT p.is_gold
        GROUP BY p."row", p.pid
    """


CHECK = Check(
    name="gold_overlap",
    says="no other passage shares 90 % of the smaller one's word pairs with a gold passage",
    why="the context contains the evidence twice, and finding the copy counts as a miss",
    severity="error",
    unit="instance",
    find=_find,
)
