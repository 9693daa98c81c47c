"""The answers of a task match its kind."""

from validation.checks.answer_in_gold import ANSWERED, lacking
from validation.checks.base import Check
from validation.measures import Measures

MOST = 0.95  # of a task's rows in a split that may lack their answer in gold
LEAST = 20  # rows needed for a meaningful share


def _find(m: Measures) -> str:
    return f"""
        SELECT config, split, task AS id, NULL AS pid,
               lacking || ' of ' || n || ' rows have no answer in gold; are the answers labels (kind: fact)?' AS detail
        FROM (SELECT config, split, task, count(*) AS n, count(*) FILTER ("row" IN (FROM {lacking(m)})) AS lacking
              FROM instances WHERE {ANSWERED} GROUP BY ALL)
        WHERE n >= {LEAST} AND lacking > {MOST} * n
    """


CHECK = Check(
    name="answers_of_task",
    says="in no extractive task nearly all answers (95 %) are missing from gold",
    why="the answers are of another kind, such as labels: prompt, leak filter and scorer then treat all rows wrongly",
    severity="error",
    unit="split",
    find=_find,
)
