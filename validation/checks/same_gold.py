"""An instance has the same gold in every config."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.odd import odd_sql


def _find(m: Measures) -> str:
    golds = m.shared(
        "golds",
        """SELECT "row", id, texts FROM instances
        JOIN (SELECT "row", list_sort(list(text)) AS texts FROM placements WHERE is_gold GROUP BY "row")
        USING ("row")""",
    )
    return f"""
        SELECT "row", NULL AS pid, 'its gold differs from that of most of its rows' AS detail
        FROM ({odd_sql("id", "texts", golds)}) JOIN {golds} USING (id, texts)
    """


CHECK = Check(
    name="same_gold",
    says="an instance has the same gold passages at every length and ratio",
    why="a change of score between configs could come from the evidence instead of its context",
    severity="error",
    unit="instance",
    find=_find,
)
