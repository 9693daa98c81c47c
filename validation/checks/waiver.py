"""Only labels and yes/no are excused from the answer check."""

from builders.format1 import FACT_LABELS
from validation.checks.base import Check
from validation.measures import WAIVED, Measures

LABELS = tuple(sorted({"yes", "no", "true", "false", "not enough info", *(label.lower() for label in FACT_LABELS)}))


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, 'is flagged {WAIVED}, and its answer is ' || q.answers[1] AS detail
        FROM instances i JOIN questions q USING (question)
        WHERE i.waived AND NOT list_has_all({list(LABELS)}, list_transform(q.answers, lambda a: lower(a)))
    """


CHECK = Check(
    name="waiver",
    says="only rows whose answers are labels, yes or no are excused from the check of answers in the context",
    why="an answer that is text, with this flag on its row, is not looked for in the context",
    severity="error",
    unit="instance",
    find=_find,
)
