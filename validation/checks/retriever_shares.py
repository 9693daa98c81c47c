"""Every retriever contributes confounders."""

from validation.checks.base import Check
from validation.measures import Measures

LEAST = 0.02  # smallest share of a split's confounders that each retriever finds, alone or with others
ALONE = 0.95  # share found by one retriever alone, above which it dominates the split
ENOUGH = 100  # confounders needed for a meaningful share


def _find(m: Measures) -> str:
    names = sorted(m.dataset.manifest.retrievers)
    if len(names) < 2:
        return m.found("retriever_shares", [])
    return f"""
        WITH found AS (SELECT config, split, retrievers FROM placements JOIN instances USING ("row")
                       WHERE role = 'confounder')
        SELECT config, split, name AS id, NULL AS pid,
               'found ' || shared || ' of ' || n || ' confounders, ' || alone || ' of them as the only one' AS detail
        FROM (SELECT config, split, name, count(*) AS n,
                     count(*) FILTER (list_contains(retrievers, name)) AS shared,
                     count(*) FILTER (retrievers = [name]) AS alone
              FROM found CROSS JOIN (SELECT unnest({names}) AS name) GROUP BY ALL)
        WHERE n >= {ENOUGH} AND (shared < {LEAST} * n OR alone > {ALONE} * n)
    """


CHECK = Check(
    name="retriever_shares",
    says="every retriever found at least 2 % of a split's confounders, and none found 95 % of them alone",
    why="confounders come from one kind of retriever, so they all confound in the same way",
    severity="warning",
    unit="split",
    find=_find,
)
