"""No required field is null or empty."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, name || ' is empty' AS detail
        FROM (SELECT i."row", unnest([
                CASE WHEN coalesce(trim(i.task), '') = '' THEN 'task' END,
                CASE WHEN coalesce(trim(q.query), '') = '' THEN 'query' END,
                CASE WHEN coalesce(len(q.answers), 0) = 0 AND i.answer_kind != 'none' THEN 'answers' END,
                CASE WHEN len(list_filter(q.answers, lambda a: coalesce(trim(a), '') = '')) > 0 THEN 'an answer' END,
                CASE WHEN n_passages = 0 THEN 'passages' END,
                CASE WHEN context_id IS NULL THEN 'context_id' END,
                CASE WHEN n_tokens IS NULL THEN 'n_tokens' END,
                CASE WHEN confounding_ratio IS NULL THEN 'confounding_ratio' END,
                CASE WHEN i.flags IS NULL THEN 'flags' END]) AS name
              FROM instances i JOIN questions q USING (question))
        WHERE name IS NOT NULL
        UNION ALL
        SELECT "row", pid, 'passage ' || "position" || ' has no ' || CASE WHEN pid IS NULL THEN 'pid' ELSE 'text' END
        FROM placements WHERE empty OR coalesce(pid, '') = ''
    """


CHECK = Check(
    name="complete",
    says="no query, answer, passage or other required field is null or empty",
    why="an incomplete row cannot be prompted or scored",
    severity="error",
    unit="instance",
    find=_find,
)
