"""Figure 1: scores over the share of confounders in the context."""

from pathlib import Path

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.commands import Command, Place, answering
from eval_harness.experiments.models import Tuned, untuned
from eval_harness.experiments.rows import Asked, scored
from eval_harness.experiments.tables import differences, headlines, lines_of, table
from eval_harness.report.figures import ratio_figure
from eval_harness.report.parts import Drawn, Line, Section
from eval_harness.report.sections import compute
from eval_harness.report.study import one_study, read_studies

TITLE = "Figure 1: confounding ratio"
METHOD = "vanilla_rag"


def more(place: Place) -> list[Command]:
    """Every untuned model, on every ratio."""
    models = untuned(place.scale)
    return [
        answering(place, model, place.scale.confounded, [METHOD], place.scale.answer, _run(place, model))
        for model in models
    ]


def report(found: Found) -> Parts:
    """A line for each model, the same numbers as a table, and each ratio's paired difference from the lowest."""
    place, models = found.place, untuned(found.place.scale)
    study = one_study(read_studies([_run(place, model) for model in models]))
    sections: list[Section] = []
    lines: list[Line] = []
    for model in models:
        asked = Asked(model.name, model, METHOD, _run(place, model).name)
        rows = [
            one._replace(asked=asked._replace(name=config))
            for config in study.configs
            for one in scored(study, config, [asked])
        ]
        sections.append(table("figure1", TITLE, model.name, rows, headlines(study)))
        sections.append(differences("figure1", TITLE, study, model.name, [(rows[0], other) for other in rows[1:]]))
        lines += [{"model": model.name, **line} for line in lines_of("", rows)]
    figure = ratio_figure(compute(study, METHOD))
    drawn = [Drawn("figure1", figure, TITLE, sections[0].name)] if figure else []
    return Parts(sections, drawn, {"figure1.csv": lines})


def _run(place: Place, model: Tuned) -> Path:
    return place.out / "runs" / f"{model.name}-ratios"


FIGURE1 = Experiment(TITLE, none, none, report, more=more)
