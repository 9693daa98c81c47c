"""No query nearly repeats a query of another split."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.similar import ranked

ALIKE = 0.8  # Jaccard index of the words


def _find(m: Measures) -> str:
    m.shared(
        "query_words",
        """SELECT DISTINCT question, unnest(string_split(query_normal, ' ')) AS word FROM questions
        WHERE query_normal != ''""",
    )
    words = m.shared("ranked_words", ranked("query_words", "question", "word"))
    return f"""
        WITH split_of AS (SELECT DISTINCT question, split FROM instances)
        SELECT "row", NULL AS pid, 'nearly repeats ' || other AS detail
        FROM (SELECT a.question, a.split, min(b.split || ' (' || qb.question_id || ')') AS other
              FROM (SELECT x.question AS a, y.question AS b, any_value(x.n) AS na, any_value(y.n) AS nb
                    FROM {words} x JOIN {words} y USING (word)
                    WHERE x.question != y.question AND x.rank <= x.n - ceil({ALIKE} * x.n) + 1
                      AND y.n BETWEEN {ALIKE} * x.n AND x.n / {ALIKE} GROUP BY ALL) pairs
              JOIN split_of a ON a.question = pairs.a JOIN split_of b ON b.question = pairs.b AND b.split != a.split
              JOIN questions qa ON qa.question = pairs.a
              JOIN questions qb ON qb.question = pairs.b AND qb.query_normal != qa.query_normal
              WHERE (SELECT count(*) FROM query_words u JOIN query_words v USING (word)
                     WHERE u.question = pairs.a AND v.question = pairs.b) >= {ALIKE / (1 + ALIKE)} * (na + nb)
              GROUP BY a.question, a.split)
        JOIN instances USING (question, split)
    """


CHECK = Check(
    name="near_query",
    says="no query shares 80 % of its words with a query of another split (Jaccard index)",
    why="questions that differ by a word often have the same answer and evidence",
    severity="warning",
    unit="instance",
    find=_find,
)
