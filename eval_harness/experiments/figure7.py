"""Figures 7 and 9: answers and evidence over the number of heads and of passages."""

from statistics import fmean

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.commands import Command, Place, probing
from eval_harness.experiments.models import RTA, Tuned
from eval_harness.experiments.scale import Scale
from eval_harness.probing.figure import sweep_figure
from eval_harness.probing.heads import Cell
from eval_harness.probing.heads_file import read_heads
from eval_harness.report.parts import Drawn, Line, Section
from eval_harness.report.statistics import MACRO
from eval_harness.report.table import percent

HEADER = ["task", "n", "Q", "M", "score", "evidence recall", "retrieval exact", "passages"]
NOTES = [
    "Means over validation instances, percent. Heads that answer one half of a task's instances were found on the "
    "other. Retrieval exact: the model's own retrieval, written over what the heads chose, names gold and nothing else."
]


def swept(name: str, title: str, *, average: bool) -> Experiment:
    """The figure of every task, or of their average alone."""

    def report(found: Found) -> Parts:
        cells = read_heads(found.place.out / "heads" / _file(RTA)).sweep
        shown = averages(cells) if average else cells
        figure = sweep_figure(shown, title)
        lines = [_line(cell) for cell in shown]
        rows = [[cell.task, str(cell.n), str(cell.q), str(cell.m), *_shares(cell)] for cell in shown]
        section = Section(name, title, NOTES, HEADER, rows, 1, title.partition(":")[0])
        return Parts([section], [Drawn(name, figure, title, name)], {f"{name}.csv": lines})

    return Experiment(title, none, none, report, trained=_trained, more=more)


def more(place: Place) -> list[Command]:
    """The probe that also answers."""
    return [probing(place, RTA, place.scale.sweep, place.out / "heads" / _file(RTA))]


def averages(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """For each Q and M the mean over tasks, each weighing alike; n is the instances of all."""
    settings = dict.fromkeys((cell.q, cell.m) for cell in cells)
    return tuple(_average([cell for cell in cells if (cell.q, cell.m) == setting]) for setting in settings)


def _average(cells: list[Cell]) -> Cell:
    first = cells[0]
    exact = [cell.retrieval_exact for cell in cells if cell.retrieval_exact is not None]
    return first._replace(
        task=MACRO,
        n=sum(cell.n for cell in cells),
        metric="headline",
        score=fmean(cell.score for cell in cells),
        evidence_recall=fmean(cell.evidence_recall for cell in cells),
        evidence_precision=fmean(cell.evidence_precision for cell in cells),
        n_passages=fmean(cell.n_passages for cell in cells),
        all_gold=fmean(cell.all_gold for cell in cells),
        retrieval_exact=fmean(exact) if len(exact) == len(cells) else None,
    )


def _trained(scale: Scale) -> list[Tuned]:
    return [RTA]


def _file(model: Tuned) -> str:
    return f"{model.name}-swept.json"


def _shares(cell: Cell) -> list[str]:
    exact = "–" if cell.retrieval_exact is None else percent(cell.retrieval_exact)
    return [percent(cell.score), percent(cell.evidence_recall), exact, f"{cell.n_passages:.1f}"]


def _line(cell: Cell) -> Line:
    return cell._asdict()


FIGURE7 = swept("figure7", "Figure 7: heads and passages, average over tasks", average=True)
FIGURE9 = swept("figure9", "Figure 9: heads and passages by task", average=False)
