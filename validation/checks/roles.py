"""Roles, retrievers, ranks and scores are consistent."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    names = sorted(m.dataset.manifest.retrievers)
    return f"""
        SELECT "row", pid, detail FROM (
            SELECT "row", pid, CASE
                WHEN coalesce(role, '') NOT IN ('gold', 'confounder', 'random')
                    THEN 'has the role ' || coalesce(role, 'null')
                WHEN synthetic AND (coalesce(len(retrievers), 0) > 0 OR rank IS NOT NULL)
                    THEN 'has a retriever, but its dataset is synthetic'
                WHEN synthetic THEN NULL
                WHEN role = 'confounder' AND (coalesce(len(retrievers), 0) = 0 OR rank IS NULL OR score IS NULL)
                    THEN 'is a confounder without retriever, rank or score'
                WHEN role = 'confounder' AND rank < 1 THEN 'has rank ' || rank
                WHEN role = 'confounder' AND NOT list_has_all({names}::VARCHAR[], retrievers)
                    THEN 'was found by ' || retrievers::VARCHAR || ', which the manifest does not name'
                WHEN role != 'confounder' AND (coalesce(len(retrievers), 0) > 0 OR rank IS NOT NULL)
                    THEN 'has the role ' || role || ' and a retriever'
            END AS detail FROM placements JOIN instances USING ("row"))
        WHERE detail IS NOT NULL
    """


CHECK = Check(
    name="roles",
    says="retrieved confounders list retrievers and rank; all other passages have neither",
    why="shares of retrievers and confounding ratios are counted from these fields",
    severity="error",
    unit="instance",
    find=_find,
)
