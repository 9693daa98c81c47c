"""Table 3: models without training, with no context, all of it, and gold alone."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import UNTUNED, Tuned, untuned
from eval_harness.experiments.rows import Asked, Scored
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Pairs
from eval_harness.experiments.tables import report as tabled

TITLE = "Table 3: models without training"
METHODS = {"closed_book": "Closed-book", "vanilla_rag": "Vanilla RAG", "oracle_rag": "Oracle RAG"}


def rows(scale: Scale) -> list[Asked]:
    """Every model by method, in the paper's order."""
    return [
        Asked(f"{name}, {_named(scale, model)}", model, method, published=name)
        for method, name in METHODS.items()
        for model in untuned(scale)
    ]


def report(found: Found) -> Parts:
    """Scores of every row, and for each model what the context and gold alone add."""
    return tabled(found, "table3", TITLE, rows(found.place.scale), _less_vanilla)


def _named(scale: Scale, model: Tuned) -> str:
    return scale.model if model == UNTUNED else model.base


def _less_vanilla(rows: list[Scored]) -> Pairs:
    vanilla = {one.asked.model: one for one in rows if one.asked.method == "vanilla_rag"}
    return [(vanilla[one.asked.model], one) for one in rows if one is not vanilla.get(one.asked.model)]


TABLE3 = Experiment(TITLE, untuned, none, report)
