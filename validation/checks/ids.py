"""Ids are unique."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, 'has no id' AS detail FROM instances WHERE coalesce(trim(id), '') = ''
        UNION ALL
        SELECT "row", NULL, 'occurs ' || n || ' times in this config'
        FROM (SELECT "row", count(*) OVER (PARTITION BY config, id) AS n FROM instances WHERE id IS NOT NULL)
        WHERE n > 1
        UNION ALL
        SELECT "row", NULL, 'does not begin with its task ' || task FROM instances
        WHERE NOT starts_with(id, task || '-')
    """


CHECK = Check(
    name="ids",
    says="ids are present, unique in their config, and begin with the task",
    why="results are joined by id; two rows with one id would be counted as one",
    severity="error",
    unit="instance",
    find=_find,
)
