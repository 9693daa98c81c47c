"""Tables of an experiment: means by task with intervals, paired differences, and the paper's numbers beside."""

from collections.abc import Callable, Iterator, Sequence

from eval_harness.experiments.base import Found, Parts
from eval_harness.experiments.beside import beside
from eval_harness.experiments.rows import Asked, Measure, Scored, scored
from eval_harness.report.matched import Comparison, by_task
from eval_harness.report.parts import Line, Section
from eval_harness.report.sections import comparisons
from eval_harness.report.statistics import MACRO, changes
from eval_harness.report.study import Study
from eval_harness.report.table import headline_of, left_out, percent

Pairs = list[tuple["Scored", "Scored"]]


def table(name: str, title: str, config: str, found: Sequence[Scored], what: str) -> Section:
    """A table of means by task; `what` names the measure."""
    tasks = _tasks(found)
    notes = [
        f"{what}, percent, with the 95 % bootstrap interval over questions and n. Unparsed and failed answers count "
        "as wrong and are in n; excluded results are listed. The macro average weights all tasks equally."
    ]
    rows = [[one.asked.name, *(_text(one, task) for task in tasks), _text(one, MACRO)] for one in found]
    header, short = ["", *tasks, MACRO], title.partition(":")[0]
    return Section(f"{name}-{config}", f"{title}, {config}", notes, header, rows, 1, short)


def differences(name: str, title: str, study: Study, config: str, pairs: Sequence[tuple[Scored, Scored]]) -> Section:
    """The second of each pair minus the first, over the instances counted in both."""
    compared = []
    for one, other in pairs:
        shared = one.values.keys() & other.values.keys()
        values = by_task({key: other.values[key] - one.values[key] for key in shared}, one.questions, study.tasks)
        names = (one.asked.name, other.asked.name)
        found = changes(values, name, config, *names)
        compared.append(Comparison(other.asked.model.name, config, *names, found))
    title = f"{title}: paired differences, {config}"
    return comparisons(compared, study, f"{name}-{config}-differences", title, "config")._replace(short="")


def report(
    found: Found,
    name: str,
    title: str,
    lines: Sequence[Asked],
    pairs: Callable[[list[Scored]], Pairs] = lambda rows: [],
    measure: Measure = headline_of,
    what: str | None = None,
) -> Parts:
    """A table of the rows for every config with results, differences of `pairs`, and a CSV file."""
    sections: list[Section] = []
    numbers: list[Line] = []
    apart: list[Line] = []
    for config in found.study.configs:
        mine = scored(found.study, config, lines, measure)
        sections.append(table(name, title, config, mine, what or headlines(found.study)))
        numbers += lines_of(config, mine)
        if compared := pairs(mine):
            sections.append(differences(name, title, found.study, config, compared))
        more, lines_beside = beside(name, title, found.study, config, mine)
        sections += more
        apart += lines_beside
    written = {f"{name}.csv": numbers, f"{name}-published.csv": apart}
    return Parts(sections, tables={file: lines for file, lines in written.items() if lines or file == f"{name}.csv"})


def lines_of(config: str, found: Sequence[Scored]) -> Iterator[Line]:
    """The numbers of a table as lines of a CSV file."""
    for one in found:
        for task, interval in one.intervals.items():
            names = {"config": config, "row": one.asked.name, "method": one.asked.method, "task": task}
            counts = {f"n_{status.replace('/', '')}": n for status, n in one.statuses.get(task, {}).items()}
            mean, low, high, n = interval or (None,) * 4
            yield {**names, "n": n, "mean": mean, "low": low, "high": high, **counts}


def headlines(study: Study) -> str:
    """The headline metric of each task, in words."""
    by_metric: dict[str, list[str]] = {}
    for task in study.tasks:
        by_metric.setdefault(study.headlines[task], []).append(task)
    return "Headline scores (" + "; ".join(f"{metric}: {', '.join(of)}" for metric, of in by_metric.items()) + ")"


def _tasks(found: Sequence[Scored]) -> list[str]:
    return sorted({task for one in found for task in one.statuses})


def _text(one: Scored, task: str) -> str:
    interval = one.intervals.get(task)
    aside = left_out(dict(sorted(one.statuses.get(task, {}).items())))
    if interval is None:
        return "\n".join(["–", *aside])
    bounds = f"[{percent(interval.low)}, {percent(interval.high)}]"
    return "\n".join([percent(interval.mean), bounds, f"n={interval.n}", *aside])
