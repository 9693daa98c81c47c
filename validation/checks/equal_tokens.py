"""All ratios of a length have about as many tokens."""

from validation.checks.base import Check
from validation.measures import Measures

SAME = 0.95  # of the tokens of the longest ratio: what differs by less is one passage more or less


def _find(m: Measures) -> str:
    return f"""
        SELECT config, split, NULL AS id, NULL AS pid, round(mean)::BIGINT || ' tokens on average, ' ||
               round(longest)::BIGINT || ' in ' || other AS detail
        FROM (SELECT *, max(mean) OVER same AS longest, arg_max(config, mean) OVER same AS other
              FROM (SELECT config, split, family, length, avg(n_tokens) AS mean FROM instances
                    WHERE ratio IS NOT NULL GROUP BY ALL)
              WINDOW same AS (PARTITION BY family, length, split))
        WHERE mean < {SAME} * longest
    """


CHECK = Check(
    name="equal_tokens",
    says="the ratios of a length have about as many tokens on average",
    why="where one ratio is shorter than another, the difference of their scores mixes length with confounders",
    severity="warning",
    unit="split",
    find=_find,
)
