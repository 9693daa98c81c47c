"""Table 5: the share of gold that a method retrieves in the context."""

from eval_harness.experiments import table4
from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Asked, lines_of, recall, scored, table
from eval_harness.report.parts import Line, Section

TITLE = "Table 5: retrieval"


def rows(scale: Scale) -> list[Asked]:
    """The rows of table 4 that name passages."""
    silent = ("closed_book", "vanilla_rag", "oracle_rag", "sft_da")
    return [asked for asked in table4.rows(scale) if asked.method not in silent]


def report(found: Found) -> Parts:
    """Evidence recall of what was copied, cited, or chosen by heads."""
    sections: list[Section] = []
    lines: list[Line] = []
    for config in found.study.configs:
        mine = scored(found.study, config, rows(found.place.scale), recall)
        sections.append(table("table5", TITLE, config, mine, "The share of gold passages that were retrieved"))
        lines += lines_of(config, mine)
    return Parts(sections, tables={"table5.csv": lines})


TABLE5 = Experiment(TITLE, lambda scale: [asked.model for asked in rows(scale)], none, report)
