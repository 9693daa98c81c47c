"""Table 6: retrieve-then-answer when the context is hidden from the answer (formula 6)."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import RTA
from eval_harness.experiments.rows import Asked, Scored, recall
from eval_harness.experiments.tables import Pairs
from eval_harness.experiments.tables import report as tabled

TITLE = "Table 6: blocking the context"
ROWS = [
    Asked("SFT-RTA", RTA, "sft_rta"),
    Asked("SFT-RTA, context blocked", RTA, "sft_rta+block_context"),
]


def report(found: Found) -> Parts:
    """Scores and evidence recall, each with the difference that blocking makes."""
    scores = tabled(found, "table6", TITLE, ROWS, _blocked)
    what = "Share of gold passages retrieved"
    recalls = tabled(found, "table6-recall", f"{TITLE}, recall", ROWS, _blocked, recall, what)
    return Parts([*scores.sections, *recalls.sections], tables={**scores.tables, **recalls.tables})


def _blocked(rows: list[Scored]) -> Pairs:
    return [(rows[0], other) for other in rows[1:]]


TABLE6 = Experiment(TITLE, lambda scale: [RTA], none, report)
