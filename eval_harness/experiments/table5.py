"""Table 5: the share of gold that a method retrieves in the context."""

from eval_harness.experiments import table4
from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Asked, recall
from eval_harness.experiments.tables import report as tabled

TITLE = "Table 5: retrieval"


def rows(scale: Scale) -> list[Asked]:
    """The rows of table 4 that name passages."""
    silent = ("closed_book", "vanilla_rag", "oracle_rag", "sft_da")
    return [asked for asked in table4.rows(scale) if asked.method not in silent]


def report(found: Found) -> Parts:
    """Evidence recall of what was copied, cited, or chosen by heads."""
    what = "The share of gold passages that were retrieved"
    return tabled(found, "table5", TITLE, rows(found.place.scale), measure=recall, what=what)


TABLE5 = Experiment(TITLE, lambda scale: [asked.model for asked in rows(scale)], none, report)
