"""Table 4: the effect of training and retrieval attention probing on scores."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import CCI, DA, RTA, UNTUNED, Tuned, with_heads
from eval_harness.experiments.rows import Asked, Scored
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Pairs
from eval_harness.experiments.tables import report as tabled

TITLE = "Table 4: main results"
VANILLA = "Vanilla RAG"


def rows(scale: Scale) -> list[Asked]:
    """The table's rows, in the paper's order."""
    found = [
        Asked("Closed-book", UNTUNED, "closed_book"),
        Asked(VANILLA, UNTUNED, "vanilla_rag"),
        Asked("Oracle RAG", UNTUNED, "oracle_rag"),
        *(Asked(f"SFT-{model.name.upper()}", model, model.methods(scale)[0]) for model in (DA, RTA, CCI)),
        *(
            Asked(f"RetHead, {model.loss}{name}", model, method)
            for model in with_heads(scale)
            for name, method in zip(("", ", in one pass"), model.methods(scale), strict=True)
        ),
    ]
    names = {UNTUNED: "Vanilla RAG + RAP", DA: "SFT-DA + RAP", RTA: "SFT-RTA + RAP"}
    return [*found, *(Asked(name, model, rap) for model, name in names.items() if (rap := model.rap(scale)))]


def models(scale: Scale) -> list[Tuned]:
    """Every model in the table."""
    return [asked.model for asked in rows(scale)]


def report(found: Found) -> Parts:
    """Scores of every row, and its difference from vanilla RAG."""
    return tabled(found, "table4", TITLE, rows(found.place.scale), _less_vanilla)


def _less_vanilla(rows: list[Scored]) -> Pairs:
    return [(one, other) for one in rows if one.asked.name == VANILLA for other in rows if other is not one]


TABLE4 = Experiment(TITLE, models, none, report)
