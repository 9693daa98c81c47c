"""Table 4: what training and retrieval attention probing do to the scores."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import CCI, DA, RTA, UNTUNED, Tuned, with_heads
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Asked, differences, headlines, lines_of, scored, table
from eval_harness.report.parts import Line, Section

TITLE = "Table 4: main results"


def rows(scale: Scale) -> list[Asked]:
    """The table's rows, in the paper's order."""
    found = [
        Asked("Closed-book", UNTUNED, "closed_book"),
        Asked("Vanilla RAG", UNTUNED, "vanilla_rag"),
        Asked("Oracle RAG", UNTUNED, "oracle_rag"),
        *(Asked(f"SFT-{model.name.upper()}", model, model.methods(scale)[0]) for model in (DA, RTA, CCI)),
        *(Asked(f"RetHead, {model.loss}", model, model.methods(scale)[0]) for model in with_heads(scale)),
    ]
    names = {UNTUNED: "Vanilla RAG + RAP", DA: "SFT-DA + RAP", RTA: "SFT-RTA + RAP"}
    return [*found, *(Asked(name, model, rap) for model, name in names.items() if (rap := model.rap(scale)))]


def models(scale: Scale) -> list[Tuned]:
    """Every model of the rows."""
    return [asked.model for asked in rows(scale)]


def report(found: Found) -> Parts:
    """Scores of every row, and what each has more than vanilla RAG."""
    study = found.study
    sections: list[Section] = []
    lines: list[Line] = []
    for config in study.configs:
        mine = scored(study, config, rows(found.place.scale))
        sections.append(table("table4", TITLE, config, mine, headlines(study.tasks)))
        lines += lines_of(config, mine)
        base = [one for one in mine if one.asked.name == "Vanilla RAG"]
        pairs = [(one, other) for one in base for other in mine if other is not one]
        if pairs:
            sections.append(differences("table4", TITLE, study, config, pairs))
    return Parts(sections, tables={"table4.csv": lines})


TABLE4 = Experiment(TITLE, models, none, report)
