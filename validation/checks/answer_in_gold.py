"""Gold holds an answer, where the task asks for one."""

from builders.format1 import NOT_EXTRACTIVE
from validation.checks.base import Check
from validation.measures import Measures

EXTRACTIVE = f"NOT waived AND task NOT IN {(*NOT_EXTRACTIVE, '')}"  # facts are labels, dialogue is a reply
ANSWERED = f"{EXTRACTIVE} AND NOT (family = 'needles' AND list_contains(flags, 'control'))"


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, 'no gold passage holds an answer' AS detail FROM instances
        WHERE {ANSWERED} AND "row" NOT IN (
            SELECT "row" FROM placements JOIN instances USING ("row") JOIN answers a USING (question)
            JOIN texts t USING (text)
            WHERE is_gold AND (contains(' ' || t.words || ' ', ' ' || a.normal || ' ')
                OR contains(' ' || t.normal || ' ', ' ' || a.normal || ' ')
                OR contains(' ' || t.title_normal || ' ', ' ' || a.normal || ' ')))
    """


CHECK = Check(
    name="answer_in_gold",
    says="a gold passage holds an answer, where the task is to find one in the text",
    why="annotators marked evidence from which the answer follows, but its words stand elsewhere or in another form",
    severity="warning",
    unit="instance",
    find=_find,
    applies=ANSWERED,
)
