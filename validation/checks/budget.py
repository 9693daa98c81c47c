"""Prompts fit the token budget of their config."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, n_tokens || ' tokens, the budget is ' || budget AS detail
        FROM instances WHERE n_tokens > budget OR n_tokens < 1
    """


CHECK = Check(
    name="budget",
    says="no prompt has more tokens than its length leaves after the reserve for the output",
    why="a model of that length would cut the prompt or refuse it",
    severity="error",
    unit="instance",
    find=_find,
    applies="budget IS NOT NULL",
)
