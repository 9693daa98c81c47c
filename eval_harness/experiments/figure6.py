"""Figure 6: the number of retrieval heads and their hit rates, before and after training."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import CCI, DA, RTA, UNTUNED, Tuned
from eval_harness.experiments.scale import Scale
from eval_harness.probing.figure import heads_figure
from eval_harness.probing.heads import Heads
from eval_harness.report.parts import Drawn, Line, Section
from eval_harness.report.table import percent

TITLE = "Figure 6: retrieval heads"


def models(scale: Scale) -> list[Tuned]:
    """The untuned model and each variant."""
    return [UNTUNED, DA, RTA, CCI]


def report(found: Found) -> Parts:
    """Heads by hit rate; in the table, the number above 0 and the best head."""
    mine = {model.name: found.heads[model] for model in models(found.place.scale)}
    smallest = min(set.intersection(*(set(heads.hit_rates) for heads in mine.values())))
    lines = [
        _line(name, task, one, smallest)
        for name, heads in mine.items()
        for task, one in {**{task: heads.of(task) for task in heads.tasks}, "all tasks": heads}.items()
    ]
    header = ["model", "task", "query positions", "n", "heads above 0", "best hit rate", "layer", "head"]
    rows = [[percent(value) if key == "best" else str(value) for key, value in line.items()] for line in lines]
    notes = [f"Hit rates at M={smallest}: the share of gold among a head's top passages, percent, as a mean over n."]
    section = Section("figure6", TITLE, notes, header, rows, 3, "Figure 6")
    drawn = Drawn("figure6", heads_figure(mine, smallest), TITLE, section.name)
    return Parts([section], [drawn], {"figure6.csv": lines})


def _line(name: str, task: str, heads: Heads, m: int) -> Line:
    (best,) = heads.best(1, m)
    rates = heads.hit_rates[m]
    return {
        "model": name,
        "task": task,
        "position": heads.made_from["position"],
        "n": heads.n,
        "above_0": sum(rate > 0 for row in rates for rate in row),
        "best": rates[heads.layers.index(best.layer)][best.head],
        "layer": best.layer,
        "head": best.head,
    }


FIGURE6 = Experiment(TITLE, none, models, report)
