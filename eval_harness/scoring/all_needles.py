"""Several needles in a haystack: every answer counts."""

from eval_harness.scoring.base import Fields, Scorer
from eval_harness.scoring.measures import needle

ALL_NEEDLES = Scorer(
    "needles in a haystack, of which every answer counts: mean containment",
    needle.METRICS_ALL,
    needle.score_all,
    Fields("needle_all", "needle_all_strict", "needle_all", "needle_all_strict"),
)
