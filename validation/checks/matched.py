"""All ratios of a length have the same instances."""

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    return """
        SELECT g.config, g.split, there.id, NULL AS pid, 'is missing; it is in ' || there.config AS detail
        FROM (SELECT family, length, split, id, min(config) AS config FROM instances
              WHERE ratio IS NOT NULL AND id IS NOT NULL GROUP BY ALL) there
        JOIN (SELECT DISTINCT c.config, family, length, split FROM instances JOIN configs c USING (family, length)
              WHERE c.ratio IS NOT NULL AND instances.ratio IS NOT NULL) g USING (family, length, split)
        ANTI JOIN instances i ON i.config = g.config AND i.split = g.split AND i.id = there.id
    """


CHECK = Check(
    name="matched",
    says="every ratio of a length has the same instances",
    why="ratios are compared in pairs; an instance without its counterpart breaks the comparison",
    severity="error",
    unit="split",
    find=_find,
)
