"""Only labels, yes/no and rows without answers are exempt from the answer check."""

from validation.checks.base import Check
from validation.measures import Measures

WAIVED = "answer_filter_not_applicable"


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, CASE
            WHEN flagged != waived THEN CASE WHEN flagged THEN 'is' ELSE 'is not' END || ' flagged {WAIVED}'
            ELSE 'its answer is ' || coalesce(answers[1], 'null') END
            || ', but its answer_kind is ' || coalesce(answer_kind, 'null') AS detail
        FROM (SELECT i."row", i.answer_kind, i.waived, q.answers, keys,
                     coalesce(list_contains(flags, '{WAIVED}'), false) AS flagged,
                     list_transform(q.answers, lambda a: lower(trim(a))) AS given
              FROM instances i JOIN questions q USING (question)
              LEFT JOIN (SELECT task, list(key) AS keys FROM labels GROUP BY task) l ON l.task = i.task)
        WHERE flagged != waived OR NOT CASE answer_kind
            WHEN 'label' THEN list_has_all(coalesce(keys, []), given)
            WHEN 'yesno' THEN list_has_all(['yes', 'no'], given)
            WHEN 'none' THEN coalesce(len(given), 0) = 0
            ELSE true END
    """


CHECK = Check(
    name="waiver",
    says="only rows whose answers are labels of their task, yes or no are exempt from the check of answers in context",
    why="a text answer in an exempt row is not searched for in the context",
    severity="error",
    unit="instance",
    find=_find,
)
