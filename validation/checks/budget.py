"""Prompts fit the token budget of their config."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, n_tokens || ' tokens, the budget is ' || budget AS detail
        FROM instances WHERE n_tokens > budget OR n_tokens < 1
        UNION ALL
        SELECT "row", NULL, n_passages || ' passages, the config has at most ' || most
        FROM instances WHERE n_passages > most AND n_passages > len(gold)
    """


CHECK = Check(
    name="budget",
    says="no prompt exceeds its budget, the length minus the reserve for the output, and no context its passages",
    why="a model with that context length would truncate or reject the prompt",
    severity="error",
    unit="instance",
    find=_find,
    applies="budget IS NOT NULL",
)
