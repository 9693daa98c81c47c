"""Only labels, yes/no and rows without answers are excused from the answer check."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, 'has the answer_kind ' || i.answer_kind || ', and its answer is ' || q.answers[1]
               AS detail
        FROM instances i JOIN questions q USING (question)
        LEFT JOIN (SELECT task, list(key) AS keys FROM labels GROUP BY task) l ON l.task = i.task
        WHERE NOT CASE i.answer_kind
            WHEN 'label' THEN list_has_all(coalesce(keys, []), list_transform(q.answers, lambda a: lower(trim(a))))
            WHEN 'yesno' THEN list_has_all(['yes', 'no'], list_transform(q.answers, lambda a: lower(trim(a))))
            WHEN 'none' THEN coalesce(len(q.answers), 0) = 0
            ELSE true END
    """


CHECK = Check(
    name="waiver",
    says="only rows whose answers are labels of their task, yes or no are excused from the check of answers in context",
    why="an answer that is text, in a row that says it is none, is not looked for in the context",
    severity="error",
    unit="instance",
    find=_find,
)
