"""No query occurs in two splits."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    asked = m.shared(
        "asked",
        """SELECT split, question, question_id, CASE WHEN query_normal = '' THEN query ELSE query_normal END AS asked
        FROM (SELECT DISTINCT split, question FROM instances) JOIN questions USING (question)""",
    )
    return f"""
        SELECT "row", NULL AS pid, 'its query is also in ' || other AS detail
        FROM (SELECT a.split, a.question, min(b.split || ' (' || coalesce(b.question_id, 'no id') || ')') AS other
              FROM {asked} a JOIN {asked} b ON a.asked = b.asked AND a.split != b.split GROUP BY ALL)
        JOIN instances USING (split, question)
    """


CHECK = Check(
    name="split_overlap",
    says="no normalised query occurs in two splits",
    why="a model would be tested on its training or tuning data",
    severity="error",
    unit="instance",
    find=_find,
)
