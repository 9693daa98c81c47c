"""Flags are known, and agree with the length, the position of gold and whether it contains an answer."""

from validation.checks.answer_in_context import GIVEN, leaks
from validation.checks.answer_in_gold import lacking
from validation.checks.base import Check
from validation.measures import Measures

UNANSWERED = "answer_not_in_gold"
KNOWN = (
    "underfull",
    "short_pool",
    "answer_filter_not_applicable",
    "article_answer",
    "ambiguous_title",
    UNANSWERED,
    "hop_without_gold",
    "unmatchable_answer",
    "marked_answer",
)
OF_A_FAMILY = {"given": GIVEN}  # flags of one family only
NEAR = 1.5  # tolerated deviation of gold from its depth, in longest passages of the context,
DENSER = 0.02  # plus this share of the context: depths count tokens, this check counts characters


def _find(m: Measures) -> str:
    own = " ".join(f"WHEN '{family}' THEN '{flag}'" for family, flag in OF_A_FAMILY.items())
    return f"""
        SELECT "row", NULL AS pid, 'has an unknown flag: ' || flag AS detail
        FROM (SELECT "row", family, unnest(flags) AS flag FROM instances)
        WHERE flag IS NULL OR (flag NOT IN {KNOWN} AND flag IS DISTINCT FROM CASE family {own} END)
        UNION ALL
        SELECT "row", NULL, n_tokens || ' of ' || budget || ' tokens, and ' ||
               CASE WHEN list_contains(flags, 'underfull') THEN 'flagged underfull' ELSE 'not flagged underfull' END
        FROM instances WHERE (n_tokens < enough * budget AND NOT capped) != list_contains(flags, 'underfull')
        UNION ALL
        {_at_another_depth()}
        UNION ALL
        {_of_gold(m)}
        UNION ALL
        SELECT "row", NULL, CASE WHEN held THEN 'a given passage contains the answer, but it is not flagged {GIVEN}'
                                 ELSE 'is flagged {GIVEN}, but no given passage contains the answer' END
        FROM (SELECT "row", list_contains(flags, '{GIVEN}') AS flagged, "row" IN (
                  SELECT "row" FROM {leaks(m)} JOIN instances USING (question) JOIN placements USING ("row", text)
                  WHERE role = 'confounder') AS held
              FROM instances WHERE family = 'given')
        WHERE held != flagged
    """


def _of_gold(m: Measures) -> str:
    """SQL of rows whose flag does not agree with the answers in gold; format 1 had no such flag."""
    if m.dataset.manifest.is_format_1:
        return """SELECT "row", NULL, NULL FROM instances WHERE false"""
    return f"""
        SELECT "row", NULL, CASE WHEN flagged THEN 'is flagged {UNANSWERED}, but a gold passage contains an answer'
                                 ELSE 'no gold passage contains an answer, but it is not flagged {UNANSWERED}' END
        FROM (SELECT "row", list_contains(flags, '{UNANSWERED}') AS flagged, "row" IN (FROM {lacking(m)}) AS lacks
              FROM instances WHERE NOT control)
        WHERE flagged != lacks
    """


def _at_another_depth() -> str:
    """SQL of rows without gold at their depth: the share of other passages' characters that precede it."""
    return f"""
        SELECT "row", NULL, 'says depth ' || any_value(depth) || ', but gold is at ' ||
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
    says="flags are known and agree with the budget and the answers in gold, and gold is at the stated depth",
    why="users filter and compare rows by their flags",
    severity="error",
    unit="instance",
    find=_find,
)
