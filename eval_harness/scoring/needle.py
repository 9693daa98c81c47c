"""One needle in a haystack: any of the answers is enough."""

from eval_harness.scoring.base import Fields, Scorer
from eval_harness.scoring.measures import needle

NEEDLE = Scorer(
    "a needle in a haystack, of which any answer is enough: containment",
    needle.METRICS,
    needle.score,
    Fields("needle_any", "needle_any_strict", "needle_any", "needle_any_strict"),
)
