"""An instance has the same gold in every config."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    golds = m.shared(
        "golds",
        """SELECT "row", list_sort(list(text)) AS texts FROM placements WHERE is_gold GROUP BY "row" """,
    )
    return f"""
        SELECT "row", NULL AS pid, 'its gold is not that of most of its rows' AS detail
        FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY n DESC, texts) AS place
              FROM (SELECT id, texts, count(*) AS n FROM instances JOIN {golds} USING ("row")
                    WHERE id IS NOT NULL GROUP BY ALL))
        JOIN (SELECT "row", id, texts FROM instances JOIN {golds} USING ("row")) USING (id, texts)
        WHERE place > 1
    """


CHECK = Check(
    name="same_gold",
    says="an instance has the same gold passages at every length and ratio",
    why="a change of score between configs could come from the evidence instead of the context around it",
    severity="error",
    unit="instance",
    find=_find,
)
