"""The paper's numbers beside ours: differences where a run was made alike, and which orders of conditions hold."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

from eval_harness.experiments.published import Benchmark, Row, Table, published
from eval_harness.experiments.rows import Scored
from eval_harness.report.matched import by_task
from eval_harness.report.parts import Line, Section
from eval_harness.report.sections import p_text, points
from eval_harness.report.statistics import MACRO, Change, changes
from eval_harness.report.study import Study
from eval_harness.report.table import percent

PAPER = published("icr2")
GIVEN = ("loft", "given")  # families whose contexts are LOFT's
EQUAL = 0.0005  # published means that differ by less, after rounding, have no order


class Order(NamedTuple):
    """Two conditions whose order a paper's models share, and the same difference in ours (second minus first)."""

    first: str
    second: str
    paper: float
    ours: Change

    @property
    def verdict(self) -> str:
        """Whether it holds, and whether this n could show it."""
        same = (self.paper > 0) == (self.ours.mean > 0)
        order = "equal" if self.ours.mean == 0 else "holds" if same else "reversed"
        return order if self.ours.low > 0 or self.ours.high < 0 else f"{order}, not shown at this n"


def beside(
    name: str, title: str, study: Study, config: str, rows: Sequence[Scored]
) -> tuple[list[Section], list[Line]]:
    """The paper's table beside our rows of a config, and the orders; nothing where the paper has no such table."""
    table = PAPER.tables.get(name)
    if table is None:
        return [], []
    benchmark: Benchmark = "loft" if study.facts[config].family in GIVEN else "icr2"
    pairs = [(one, row) for one in rows for row in table.rows if row.row == one.asked.says and row.of(benchmark)]
    reasons = list(dict.fromkeys(reason for one, row in pairs for reason in differs(study, config, one, row)))
    lines = [line for one, row in pairs for line in _lines(study, config, one, row, benchmark)]
    found = [order for of in _by_model(rows) for order in orders(table, benchmark, of, study, config)]
    title = f"{title}: the paper's, {config}"
    apart = f"Not comparable: {'; '.join(reasons)}." if reasons else "Difference: ours less the paper's."
    notes = [f"{PAPER.paper}. {apart}"]
    header = ["", "model", "task", "paper", "ours", "difference"]
    shown = [_shown(line) for line in lines]
    sections = [Section(f"{name}-{config}-published", title, notes, header, shown, 3, folded=True)] if shown else []
    return [*sections, *([_shape(name, title, config, found)] if found else [])], [*lines, *map(_of_order, found)]


def differs(study: Study, config: str, one: Scored, row: Row) -> Iterator[str]:
    """What keeps a row of ours from being compared with the paper's, by the record of its run."""
    settings, record, facts = PAPER.settings, study.settings[one.label], study.facts[config]
    training = record.get("training") or {}
    model = (training.get("base") or record["model"])["name"]
    wanted = PAPER.models[row.model] if row.model else []
    if model not in wanted:
        yield f"the model is {model}, not {' or '.join(wanted)}"
    if study.name != settings["dataset"]:
        yield f"the dataset is {study.name}, not {settings['dataset']}"
    if facts.tokens != settings["tokens"]:
        yield f"contexts are of {facts.tokens or 'given'} tokens, not {settings['tokens']:,}"
    if facts.ratio not in (None, settings["ratio"]):
        yield f"the confounding ratio is {facts.ratio} %, not {settings['ratio']} %"
    room = {*record.get("max_new_tokens", {}).values()}
    if room != {settings["output_tokens"]}:
        most = f"{max(room):,}" if room else "an unknown number of"
        yield f"outputs have at most {most} tokens, not {settings['output_tokens']:,}"
    samples = sum(counts["used"] for counts in training.get("samples", {}).values())
    if training and samples != settings["samples"]:
        yield f"the model was trained on {samples:,} samples, not {settings['samples']:,}"


def orders(table: Table, benchmark: Benchmark, rows: Sequence[Scored], study: Study, config: str) -> Iterator[Order]:
    """Every two of our rows whose order all models of the paper share, by macro averages over the tasks of both."""
    for one, other in combinations(rows, 2):
        tasks = [task for task in study.tasks if task in one.intervals and task in other.intervals]
        paper = _difference(table, benchmark, one.asked.says, other.asked.says, tasks)
        shared = one.values.keys() & other.values.keys()
        values = {key: other.values[key] - one.values[key] for key in shared if key[0] in tasks}
        if paper is None or not values:
            continue
        names = ("published", config, one.asked.name, other.asked.name)
        ours = changes(by_task(values, one.questions, tasks), *names).get(MACRO)
        if ours:
            yield Order(one.asked.name, other.asked.name, paper, ours)


def _difference(table: Table, benchmark: Benchmark, first: str, second: str, tasks: list[str]) -> float | None:
    """The mean difference over the paper's models; None where they do not agree in its sign, or a value is missing."""
    by_model: dict[str | None, dict[str, Row]] = {}
    for row in table.rows:
        by_model.setdefault(row.model, {})[row.row] = row
    found = []
    for rows in by_model.values():
        if first in rows and second in rows:
            one, other = rows[first].of(benchmark), rows[second].of(benchmark)
            if not tasks or not all(task in one and task in other for task in tasks):
                return None
            found.append(fmean(other[task] - one[task] for task in tasks))
    signs = {value > 0 for value in found}
    return fmean(found) if len(signs) == 1 and all(abs(value) >= EQUAL for value in found) else None


def _by_model(rows: Sequence[Scored]) -> list[list[Scored]]:
    """Rows of one untuned model each, with those of the models trained from it."""
    bases = dict.fromkeys(one.asked.model.base for one in rows)
    return [[one for one in rows if one.asked.model.base == base] for base in bases]


def _lines(study: Study, config: str, one: Scored, row: Row, benchmark: Benchmark) -> Iterator[Line]:
    comparable = not [*differs(study, config, one, row)]
    for task, value in row.of(benchmark).items():
        ours = one.intervals.get(task)
        if ours is None:
            continue
        line: dict[str, Any] = {"config": config, "row": one.asked.name, "model": row.model, "task": task}
        line |= {"paper": value, "ours": ours.mean, "low": ours.low, "high": ours.high, "n": ours.n}
        yield line | {"comparable": comparable}


def _shown(line: Line) -> list[str]:
    ours = f"{percent(line['ours'])} [{percent(line['low'])}, {percent(line['high'])}]"
    apart = [points(line[bound] - line["paper"]) for bound in ("ours", "low", "high")]
    difference = f"{apart[0]} [{apart[1]}, {apart[2]}]" if line["comparable"] else "not comparable"
    return [line["row"], str(line["model"] or ""), line["task"], percent(line["paper"]), ours, difference]


def _shape(name: str, title: str, config: str, found: Sequence[Order]) -> Section:
    counts = Counter(order.verdict for order in found)
    said = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    notes = [
        "Orders of macro averages that all models of the paper share, and ours over the same tasks: of "
        f"{len(found)}, {said}. Differences in points, the second less the first, with the paired 95 % interval and "
        "its p-value, not adjusted."
    ]
    header = ["first", "second", "paper", "ours", "p", "order"]
    rows = [[one.first, one.second, points(one.paper), *_ours(one)] for one in found]
    return Section(f"{name}-{config}-orders", f"{title}, orders", notes, header, rows, 2, folded=True)


def _ours(one: Order) -> list[str]:
    ours = one.ours
    interval = f"{points(ours.mean)} [{points(ours.low)}, {points(ours.high)}], n={ours.n}"
    return [interval, p_text(ours.p), one.verdict]


def _of_order(one: Order) -> Mapping[str, Any]:
    order = {"row": one.first, "second": one.second, "paper": one.paper, "order": one.verdict}
    return {**order, "ours": one.ours.mean, **{name: getattr(one.ours, name) for name in ("low", "high", "n", "p")}}
