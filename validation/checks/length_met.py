"""Contexts are about as long as their config says."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT config, split, NULL AS id, NULL AS pid,
               round(avg(n_tokens))::BIGINT || ' tokens on average, the budget is ' || any_value(budget) AS detail
        FROM instances WHERE budget IS NOT NULL AND enough IS NOT NULL AND NOT capped
        GROUP BY config, split HAVING avg(n_tokens) < any_value(enough * budget)
    """


CHECK = Check(
    name="length_met",
    says="contexts fill their length (on average 90 % of the budget, 75 % below 2k) or have all the passages they may",
    why="a score at 64k that comes from contexts of 9k tokens says nothing about 64k",
    severity="warning",
    unit="split",
    find=_find,
)
