"""Figure 5: scores over the number of training samples."""

from pathlib import Path

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import CCI, DA, RTA, Tuned
from eval_harness.experiments.rows import Asked, Scored, scored
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import headlines, lines_of, table
from eval_harness.models.training import read_training
from eval_harness.report import figures
from eval_harness.report.figures import Panels, Point, lines_figure
from eval_harness.report.parts import Drawn, Line, Section
from eval_harness.report.statistics import MACRO

TITLE = "Figure 5: samples"


def models(scale: Scale) -> list[Tuned]:
    """Each variant trained on each share of the samples."""
    return [model._replace(share=share) for model in (DA, RTA, CCI) for share in sorted(scale.shares)]


def report(found: Found) -> Parts:
    """A panel for each task with a line for each variant, and the same numbers as a table."""
    place, study = found.place, found.study
    sizes = {model: _samples(Path(place.checkpoint(model))) for model in models(place.scale)}
    rows = [
        Asked(f"SFT-{str(model.variant).upper()}, {n} samples", model, model.methods(place.scale)[0])
        for model, n in sizes.items()
    ]
    panels: Panels = {}
    sections: list[Section] = []
    lines: list[Line] = []
    for config in study.configs:
        mine = scored(study, config, rows)
        sections.append(table("figure5", TITLE, config, mine, headlines(study)))
        lines += lines_of(config, mine)
        panels[config] = {task: _lines(mine, sizes, task) for task in (*study.tasks, MACRO)}
    figure = lines_figure(panels, "samples", study.headlines, log=False)
    drawn = [Drawn("figure5", figure, TITLE, sections[-1].name)] if figure else []
    return Parts(sections, drawn, {"figure5.csv": lines})


def _samples(checkpoint: Path) -> int:
    """The number of training samples of a model."""
    training = read_training(checkpoint)
    return sum(counts["used"] for counts in training.samples.values()) if training else 0


def _lines(found: list[Scored], sizes: dict[Tuned, int], task: str) -> list[figures.Line]:
    lines: dict[str, figures.Line] = {}
    for one in found:
        if interval := one.intervals.get(task):
            name = f"SFT-{str(one.asked.model.variant).upper()}"
            point = Point(sizes[one.asked.model], *(100 * bound for bound in interval[:3]))
            lines.setdefault(name, figures.Line("", name, "vanilla", [])).points.append(point)
    return list(lines.values())


FIGURE5 = Experiment(TITLE, models, none, report)
