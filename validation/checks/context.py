"""Rows with one context_id have one context."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    m.shared(
        "context_texts",
        """SELECT "row", list((pid, text) ORDER BY "position")::VARCHAR AS context FROM placements
        WHERE "row" IN (SELECT "row" FROM instances WHERE shared) GROUP BY "row" """,
    )
    return """
        SELECT "row", NULL AS pid, 'its passages differ from those of the first row of its context' AS detail
        FROM (SELECT "row", context, first_value(context) OVER same AS own
              FROM instances JOIN context_texts USING ("row")
              WINDOW same AS (PARTITION BY config, split, context_id ORDER BY "row"))
        WHERE context != own
        UNION ALL
        SELECT "row", NULL, 'its context_id is ' || coalesce(context_id, 'null') || ', not its id' FROM instances
        WHERE ratio IS NOT NULL AND context_id IS DISTINCT FROM id
    """


CHECK = Check(
    name="context",
    says="rows with the same context_id share every passage, and an ICR² row has its own",
    why="a harness reads a shared context once for all of its queries",
    severity="error",
    unit="instance",
    find=_find,
)
