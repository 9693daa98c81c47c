"""Table 2: passages, tokens and gold of each task's contexts."""

from builders.manifest import read_manifest
from builders.views import connect, readable
from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.beside import GIVEN, PAPER
from eval_harness.report.parts import Line, Section

TITLE = "Table 2: contexts"
NOTES = [
    "Means over test instances: passages in the context, tokens of the whole prompt by the dataset's tokenizer, and "
    "gold passages. In the last column, the same three in the paper's contexts of 32k."
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
    families = {name: config.family for name, config in read_manifest(found.place.dataset).configs.items()}
    rows = [
        [one["config"], one["task"], f"{one['n']:,}", *_means(one), _papers(families[one["config"]], one["task"])]
        for one in lines
    ]
    header = ["config", "task", "n", "passages", "tokens", "gold", "paper's 32k"]
    return Parts([Section("table2", TITLE, NOTES, header, rows, 2, "Table 2")], tables={"table2.csv": lines})


def _papers(family: str, task: str) -> str:
    """Passages, tokens and gold in the paper's table."""
    values = {row.row: row.of("loft" if family in GIVEN else "icr2") for row in PAPER.tables["table2"].rows}
    if task not in values["passages"]:
        return "–"
    passages, tokens, gold = (values[name][task] for name in ("passages", "tokens", "gold"))
    return f"{passages:,.0f} / {tokens:,.0f} / {gold:g}"


def _means(one: Line) -> list[str]:
    tokens = "–" if one["tokens"] is None else f"{one['tokens']:,.0f}"  # rows of another source may have no count
    return [f"{one['passages']:.1f}", tokens, f"{one['gold']:.2f}"]


TABLE2 = Experiment(TITLE, none, none, report)
