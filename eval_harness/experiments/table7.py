"""Table 7: seconds per query of direct answers with and without retrieval attention probing."""

from pathlib import Path

from eval_harness.experiments.base import Experiment, Found, Parts, none
from eval_harness.experiments.beside import PAPER
from eval_harness.experiments.commands import Command, Place, answering
from eval_harness.experiments.models import DA
from eval_harness.experiments.scale import Scale
from eval_harness.report.latency import seconds_by_task
from eval_harness.report.study import one_study, read_studies

TITLE = "Table 7: seconds per query"
NOTES = [
    "Each method alone in a process of its own, one prompt at a time, after one that is not timed; nothing that it has "
    "read is shared with another prompt."
]


def more(place: Place) -> list[Command]:
    """A run for each method."""
    alone = {"batch-size": 1, "no-prefix-reuse": True, "warm-up": True}
    how = {**place.scale.answer, **alone, "limit": place.scale.timed}
    return [
        answering(place, DA, place.scale.configs, [method], how, _run(place, method))
        for method in _methods(place.scale)
    ]


def report(found: Found) -> Parts:
    """Seconds of each task and method with their intervals, and the paired difference."""
    place = found.place
    study = one_study(read_studies([_run(place, method) for method in _methods(place.scale)]))
    section, lines = seconds_by_task(study, "table7", TITLE, [*NOTES, _papers()])
    return Parts([section], tables={"table7.csv": lines})


def _papers() -> str:
    """The paper's seconds, in words."""
    direct, probed = (row.of("loft") for row in PAPER.tables["table7"].rows)
    found = ", ".join(f"{task} {seconds:.2f} and {probed[task]:.2f}" for task, seconds in direct.items())
    return f"{PAPER.paper}, Mistral-7B at 32k on another machine, so not comparable: {found} with RAP."


def _methods(scale: Scale) -> list[str]:
    rap = DA.rap(scale)
    return ["sft_da", *([rap] if rap else [])]


def _run(place: Place, method: str) -> Path:
    return place.out / "runs" / f"{DA.name}-timed-{method.partition('@')[0].replace('+', '-')}"


TABLE7 = Experiment(TITLE, none, lambda scale: [DA], report, more=more)
