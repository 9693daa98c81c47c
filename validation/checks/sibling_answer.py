"""No other passage of a gold page contains the answer."""

from validation.checks.answer_in_context import leaks
from validation.checks.base import Check
from validation.checks.other_notation import noted
from validation.measures import Measures

PAGE = "regexp_replace(pid, ':[^:]*$', '')"


def _find(m: Measures) -> str:
    return f"""
        SELECT DISTINCT p."row", p.pid, 'is on a gold page and contains ' || answer AS detail
        FROM (SELECT * FROM {leaks(m)} UNION ALL SELECT * FROM {noted(m)}) JOIN instances USING (question)
        JOIN (SELECT *, {PAGE} AS page FROM placements WHERE NOT is_gold) p USING ("row", text)
        JOIN (SELECT "row", {PAGE} AS page FROM placements WHERE is_gold) g USING ("row", page)
    """


CHECK = Check(
    name="sibling_answer",
    says="no other passage of a gold page contains an answer, in any notation",
    why="such a passage is evidence, but choosing it counts as a miss",
    severity="warning",
    unit="instance",
    find=_find,
    applies="NOT waived",
)
