"""Table 5: the share of gold passages that a method retrieves from the context."""

from eval_harness.experiments import table4
from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.rows import Asked, recall
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import report as tabled

TITLE = "Table 5: retrieval"


def rows(scale: Scale) -> list[Asked]:
    """The rows of table 4 whose method selects or cites passages."""
    silent = ("closed_book", "vanilla_rag", "oracle_rag", "sft_da")
    return [asked for asked in table4.rows(scale) if asked.method not in silent]


def report(found: Found) -> Parts:
    """Evidence recall of passages copied, cited, or chosen by heads."""
    what = "Share of gold passages retrieved"
    return tabled(found, "table5", TITLE, rows(found.place.scale), measure=recall, what=what)


TABLE5 = Experiment(TITLE, lambda scale: [asked.model for asked in rows(scale)], none, report)
