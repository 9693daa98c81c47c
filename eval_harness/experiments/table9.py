"""Table 9: retrieve-then-answer and cite-context-ID without the marks around what is retrieved."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import CCI, RTA
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Asked, differences, headlines, lines_of, scored, table
from eval_harness.report.parts import Line, Section

TITLE = "Table 9: marks"


def rows(scale: Scale) -> list[Asked]:
    """Each variant with marks, and behind it the same without."""
    return [
        Asked(f"SFT-{model.name.upper()}{name}", tuned, model.methods(scale)[0])
        for model in (RTA, CCI)
        for name, tuned in (("", model), (" without marks", model._replace(marks=False)))
    ]


def report(found: Found) -> Parts:
    """Scores with and without, and their differences."""
    study = found.study
    sections: list[Section] = []
    lines: list[Line] = []
    for config in study.configs:
        mine = scored(study, config, rows(found.place.scale))
        sections.append(table("table9", TITLE, config, mine, headlines(study.tasks)))
        lines += lines_of(config, mine)
        pairs = [(one, other) for one in mine for other in mine if other.asked.model == _without(one.asked)]
        sections.append(differences("table9", TITLE, study, config, pairs))
    return Parts(sections, tables={"table9.csv": lines})


def _without(asked: Asked) -> object:
    return asked.model._replace(marks=False) if asked.model.marks else None


TABLE9 = Experiment(TITLE, lambda scale: [asked.model for asked in rows(scale)], none, report)
