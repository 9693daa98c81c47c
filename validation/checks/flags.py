"""Flags are known, and say the truth about the length and the place of gold."""

from validation.checks.answer_in_context import GIVEN, leaks
from validation.checks.base import Check
from validation.measures import Measures

KNOWN = ("underfull", "short_pool", "answer_filter_not_applicable", "article_answer", "unmatchable_answer")
OF_A_FAMILY = {"given": GIVEN}  # flags that rows of one family alone may have
NEAR = 1.5  # passages, the longest of its context, by which gold may miss its depth,
DENSER = 0.02  # of the context on top: depths count tokens, and this check counts characters


def _find(m: Measures) -> str:
    own = " ".join(f"WHEN '{family}' THEN '{flag}'" for family, flag in OF_A_FAMILY.items())
    return f"""
        SELECT "row", NULL AS pid, 'has an unknown flag: ' || flag AS detail
        FROM (SELECT "row", family, unnest(flags) AS flag FROM instances)
        WHERE flag IS NULL OR (flag NOT IN {KNOWN} AND flag IS DISTINCT FROM CASE family {own} END)
        UNION ALL
        SELECT "row", NULL, n_tokens || ' of ' || budget || ' tokens, and ' ||
               CASE WHEN list_contains(flags, 'underfull') THEN 'flagged underfull' ELSE 'not flagged underfull' END
        FROM instances WHERE (n_tokens < enough * budget) != list_contains(flags, 'underfull')
        UNION ALL
        {_at_another_depth()}
        UNION ALL
        SELECT "row", NULL, CASE WHEN held THEN 'a given passage holds the answer, and it is not flagged {GIVEN}'
                                 ELSE 'is flagged {GIVEN}, and no given passage holds the answer' END
        FROM (SELECT "row", list_contains(flags, '{GIVEN}') AS flagged, "row" IN (
                  SELECT "row" FROM {leaks(m)} JOIN instances USING (question) JOIN placements USING ("row", text)
                  WHERE role = 'confounder') AS held
              FROM instances WHERE family = 'given')
        WHERE held != flagged
    """


def _at_another_depth() -> str:
    """SQL of rows that say a depth at which no gold stands: characters of other passages before it, of all."""
    return f"""
        SELECT "row", NULL, 'says depth ' || any_value(depth) || ', and gold stands at ' ||
               list(round(100 * before / total)::INTEGER ORDER BY "position")::VARCHAR
        FROM (SELECT "row", "position", depth, is_gold, max(size) OVER (PARTITION BY "row") AS longest,
                     sum(other) OVER (PARTITION BY "row") AS total,
                     sum(other) OVER (PARTITION BY "row" ORDER BY "position") AS before
              FROM (SELECT *, CASE WHEN is_gold THEN 0 ELSE size END AS other
                    FROM (SELECT *, length(title) + length(body) AS size
                          FROM (SELECT "row", depth FROM instances WHERE depth IS NOT NULL)
                          JOIN placements USING ("row") JOIN texts USING (text))))
        WHERE is_gold AND total > 0 GROUP BY "row"
        HAVING min(abs(before - depth / 100 * total)) > {NEAR} * max(longest) + {DENSER} * max(total)
    """


CHECK = Check(
    name="flags",
    says="flags and depth are known and true: `underfull` below the share of the budget, a depth where gold stands",
    why="users drop, keep and compare rows by their flags",
    severity="error",
    unit="instance",
    find=_find,
)
