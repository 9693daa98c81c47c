"""The query does not contain its answer."""

from validation.checks.answer_in_gold import EXTRACTIVE
from validation.checks.base import Check
from validation.measures import Measures
from validation.normal import gives_away_sql


def _find(m: Measures) -> str:
    given = gives_away_sql("answers", "query_marked", "query_normal", "query_marked")
    return f"""
        SELECT "row", NULL AS pid, 'the query contains its answer ' || hint AS detail
        FROM (SELECT question, min(answer) AS hint FROM answers JOIN questions USING (question)
              WHERE NOT article AND {given} GROUP BY question)
        JOIN instances USING (question) WHERE {EXTRACTIVE}
    """


CHECK = Check(
    name="answer_in_query",
    says="no query contains its own answer",
    why="the question can be answered by choosing a name in it (which of two is older?), without any passage",
    severity="warning",
    unit="instance",
    find=_find,
    applies=EXTRACTIVE,
)
