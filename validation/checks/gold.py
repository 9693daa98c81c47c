"""Every row has gold, at its stated positions."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT "row", NULL AS pid, 'lists no gold' AS detail FROM instances WHERE coalesce(len(gold), 0) = 0
          AND NOT control
        UNION ALL
        SELECT "row", NULL, 'gold is not an ascending list of positions: ' || gold::VARCHAR FROM instances
        WHERE len(gold) > 0 AND (list_sort(list_distinct(gold)) != gold OR list_min(gold) < 0
              OR list_max(gold) >= n_passages OR len(gold) != len(list_filter(gold, lambda g: g IS NOT NULL)))
        UNION ALL
        SELECT "row", pid, 'is at a gold position with the role ' || coalesce(role, 'null') FROM placements
        WHERE is_gold AND role IS DISTINCT FROM 'gold'
        UNION ALL
        SELECT "row", pid, 'has the role gold at an unlisted position' FROM placements
        WHERE role = 'gold' AND NOT is_gold
    """


CHECK = Check(
    name="gold",
    says="every row has gold, exactly at its listed positions",
    why="the oracle condition, evidence scores and head probing all read these positions",
    severity="error",
    unit="instance",
    find=_find,
)
