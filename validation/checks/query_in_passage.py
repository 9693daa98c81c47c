"""Only gold passages contain the query."""

from validation.checks.base import Check
from validation.measures import Measures

LEAST = 4  # words of a query; shorter ones may occur anywhere


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", pid, 'a ' || role || ' passage contains the query' AS detail
        FROM (SELECT question, text FROM others JOIN questions USING (question) JOIN texts t USING (text)
              WHERE len(string_split(query_normal, ' ')) >= {LEAST}
                AND contains(' ' || t.normal || ' ', ' ' || query_normal || ' '))
        JOIN instances USING (question) JOIN placements USING ("row", text) WHERE NOT is_gold
    """


CHECK = Check(
    name="query_in_passage",
    says="only gold passages contain the query word for word",
    why="the question was probably written from that passage, which would make it evidence",
    severity="warning",
    unit="instance",
    find=_find,
)
