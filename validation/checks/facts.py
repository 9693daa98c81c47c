"""Config, task and kind of a row match the manifest."""

from typing import get_args

from builders.schema import AnswerKind
from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", NULL AS pid, detail FROM (
            SELECT "row", unnest([
                CASE WHEN row_config IS DISTINCT FROM config
                     THEN 'names the config ' || coalesce(row_config, 'null') END,
                CASE WHEN t.task IS NULL THEN 'is of the task ' || i.task || ', which the manifest does not name' END,
                CASE WHEN t.kind != coalesce(i.kind, '')
                     THEN 'has the kind ' || coalesce(i.kind, 'null') || ', its task has ' || t.kind END,
                CASE WHEN coalesce(answer_kind, '') NOT IN {(*get_args(AnswerKind), "none")}
                     THEN 'has the answer_kind ' || coalesce(answer_kind, 'null') END,
                CASE WHEN answer_kind = 'label' AND t.kind != 'fact'
                     THEN 'has a label as answer, but its task has the kind ' || t.kind END,
                CASE WHEN coalesce(trim(question_id), '') = '' THEN 'has no question_id' END]) AS detail
            FROM instances i LEFT JOIN tasks t ON t.task = i.task WHERE coalesce(trim(i.task), '') != '')
        WHERE detail IS NOT NULL
    """


CHECK = Check(
    name="facts",
    says="config, task, kind and answer_kind of every row match the manifest",
    why="rows are prompted, scored and grouped by these fields, also after configs were concatenated",
    severity="error",
    unit="instance",
    find=_find,
)
