"""No random passage is similar to a gold one."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.similar import ranked_pairs

ALIKE = 0.5  # Jaccard index of the word pairs
LEAST = 8  # word pairs needed for a meaningful similarity


def _find(m: Measures) -> str:
    pairs = ranked_pairs(m)
    m.shared(
        "near_gold_texts",
        f"""SELECT g, t FROM (
            SELECT DISTINCT a.text AS g, b.text AS t, a.n AS ng, b.n AS nt FROM {pairs} a JOIN {pairs} b USING (pair)
            WHERE a.text IN (SELECT text FROM placements WHERE is_gold) AND a.text != b.text AND a.n >= {LEAST}
              AND a.rank <= a.n - ceil({ALIKE} * a.n) + 1 AND b.n BETWEEN {ALIKE} * a.n AND a.n / {ALIKE})
        JOIN word_pairs wg ON wg.text = g JOIN word_pairs wt ON wt.text = t AND wt.pair = wg.pair
        GROUP BY g, t, ng, nt HAVING count(*) >= {ALIKE} * (ng + nt - count(*))""",
    )
    return """
        SELECT p."row", p.pid, 'shares half of its word pairs with the gold passage ' || min(g.pid) AS detail
        FROM near_gold_texts n JOIN placements g ON g.text = n.g AND g.is_gold
        JOIN placements p ON p.text = n.t AND p."row" = g."row" AND p.role = 'random' GROUP BY p."row", p.pid
    """


CHECK = Check(
    name="near_gold",
    says="no random passage shares half of its word pairs with a gold passage (Jaccard index)",
    why="pages with one template (years, places) resemble the evidence, so `random` is harder than its name suggests",
    severity="warning",
    unit="instance",
    find=_find,
)
