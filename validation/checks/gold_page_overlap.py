"""Test questions do not share gold pages with train questions."""

from validation.checks.base import Check
from validation.checks.sibling_answer import PAGE
from validation.measures import Measures


def _find(m: Measures) -> str:
    return f"""
        WITH golds AS (SELECT DISTINCT question, split, {PAGE} AS page FROM placements JOIN instances USING ("row")
                       WHERE is_gold AND pid IS NOT NULL)
        SELECT "row", NULL AS pid, 'its gold page ' || page || ' is gold in ' || other AS detail
        FROM (SELECT a.question, a.split, min(a.page) AS page, min(b.split) AS other
              FROM golds a JOIN golds b USING (page) WHERE b.split = 'train' AND a.split != 'train'
              GROUP BY a.question, a.split)
        JOIN instances USING (question, split)
    """


CHECK = Check(
    name="gold_page_overlap",
    says="no page that is gold in train is gold in validation or test",
    why="a model trained on the train split has already read a test question's evidence",
    severity="warning",
    unit="instance",
    find=_find,
    applies="split != 'train'",
)
