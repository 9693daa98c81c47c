"""Table 9: retrieve-then-answer and cite-context-ID without the special tokens around the retrieval."""

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.models import CCI, RTA
from eval_harness.experiments.rows import Asked, Scored
from eval_harness.experiments.scale import Scale
from eval_harness.experiments.tables import Pairs
from eval_harness.experiments.tables import report as tabled

TITLE = "Table 9: special tokens"


def rows(scale: Scale) -> list[Asked]:
    """Each variant with special tokens, followed by the same without."""
    return [
        Asked(f"SFT-{model.name.upper()}{name}", tuned, model.methods(scale)[0])
        for model in (RTA, CCI)
        for name, tuned in (("", model), (" without special tokens", model._replace(marks=False)))
    ]


def report(found: Found) -> Parts:
    """Scores with and without special tokens, and their differences."""
    return tabled(found, "table9", TITLE, rows(found.place.scale), _with_and_without)


def _with_and_without(rows: list[Scored]) -> Pairs:
    marked = [one for one in rows if one.asked.model.marks]
    return [
        (one, other) for one in marked for other in rows if other.asked.model == one.asked.model._replace(marks=False)
    ]


TABLE9 = Experiment(TITLE, lambda scale: [asked.model for asked in rows(scale)], none, report)
