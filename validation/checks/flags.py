"""Flags are known, and say the truth about the length."""

from validation.checks.base import Check
from validation.measures import Measures

KNOWN = ("underfull", "short_pool", "answer_filter_not_applicable", "article_answer", "unmatchable_answer")


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, 'has an unknown flag: ' || flag AS detail
        FROM (SELECT "row", unnest(flags) AS flag FROM instances) WHERE flag IS NULL OR flag NOT IN {KNOWN}
        UNION ALL
        SELECT "row", NULL, n_tokens || ' of ' || budget || ' tokens, and ' ||
               CASE WHEN list_contains(flags, 'underfull') THEN 'flagged underfull' ELSE 'not flagged underfull' END
        FROM instances WHERE (n_tokens < enough * budget) != list_contains(flags, 'underfull')
    """


CHECK = Check(
    name="flags",
    says="flags are known ones, and `underfull` stands exactly where a context is under its share of the budget",
    why="users drop or keep rows by their flags",
    severity="error",
    unit="instance",
    find=_find,
)
