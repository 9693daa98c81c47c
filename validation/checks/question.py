"""A question is the same in every config."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, 'its query, answers, hops or waiver are not those of most of its rows' AS detail
        FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY n DESC, question) AS place
              FROM (SELECT id, question, count(*) AS n FROM instances WHERE id IS NOT NULL GROUP BY ALL))
        JOIN instances USING (id, question) WHERE place > 1
    """


CHECK = Check(
    name="question",
    says="an id has the same query, answers and hops in every config",
    why="differences between configs would no longer be differences of the context alone",
    severity="error",
    unit="instance",
    find=_find,
)
