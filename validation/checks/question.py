"""A question is the same in every config."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.odd import odd_sql


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, 'its query, answers, hops or waiver are not those of most of its rows' AS detail
        FROM ({odd_sql("id", "question", "instances")}) JOIN instances USING (id, question)
    """


CHECK = Check(
    name="question",
    says="an id has the same query, answers and hops in every config",
    why="differences between configs would no longer be differences of the context alone",
    severity="error",
    unit="instance",
    find=_find,
)
