"""A question is the same in all its rows."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.odd import odd_sql


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, 'its query, answers or hops differ from most rows with its question_id' AS detail
        FROM ({odd_sql("question_id", "question", "instances")}) JOIN instances USING (question_id, question)
    """


CHECK = Check(
    name="question",
    says="rows with the same question_id have the same query, answers and hops",
    why="configs would differ in more than the context",
    severity="error",
    unit="instance",
    find=_find,
)
