"""Table 2: passages, tokens and gold of each task's contexts."""

from builders.views import connect, readable
from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.report.parts import Line, Section

TITLE = "Table 2: contexts"
NOTES = [
    "Means over test instances: passages in the context, tokens of the whole prompt by the dataset's tokenizer, and "
    "gold passages."
]
_SQL = """
SELECT config, task, count(*) AS n, avg(len(passages)) AS passages, avg(n_tokens) AS tokens, avg(len(gold)) AS gold
FROM all_configs WHERE split = 'test' GROUP BY config, task ORDER BY config, task
"""


def report(found: Found) -> Parts:
    """A row for each config and task."""
    with readable(found.place.dataset):
        result = connect(found.place.dataset).execute(_SQL)
        names = [column[0] for column in result.description]
        lines: list[Line] = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    rows = [[one["config"], one["task"], f"{one['n']:,}", *_means(one)] for one in lines]
    section = Section("table2", TITLE, NOTES, ["config", "task", "n", "passages", "tokens", "gold"], rows, 2, "Table 2")
    return Parts([section], tables={"table2.csv": lines})


def _means(one: Line) -> list[str]:
    tokens = "–" if one["tokens"] is None else f"{one['tokens']:,.0f}"  # rows of another source may have no count
    return [f"{one['passages']:.1f}", tokens, f"{one['gold']:.2f}"]


TABLE2 = Experiment(TITLE, none, none, report)
