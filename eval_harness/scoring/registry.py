"""Scorers by name; a task names its own, or has that of its kind."""

from builders.languages import needs_strict
from builders.registry import Registry
from builders.tasks import TaskSpec
from eval_harness.scoring.all_needles import ALL_NEEDLES
from eval_harness.scoring.answer_set import ANSWER_SET
from eval_harness.scoring.base import Scorer
from eval_harness.scoring.dialogue import DIALOGUE
from eval_harness.scoring.label import LABEL_ACCURACY
from eval_harness.scoring.needle import NEEDLE
from eval_harness.scoring.qa import QA

VERSION = "6"  # changes with every change that can move a score or adds one

SCORERS: Registry[Scorer] = Registry(
    "icr2.scorers",
    "scorer",
    {
        "qa": QA,
        "label": LABEL_ACCURACY,
        "dialogue": DIALOGUE,
        "set": ANSWER_SET,
        "needle": NEEDLE,
        "all_needles": ALL_NEEDLES,
    },
    Scorer,
)


def scorer_of(task: TaskSpec) -> Scorer:
    """The scorer of a task; SetupError where it names one that is not there."""
    return SCORERS[task.scored_by]


def headline_of(task: TaskSpec, language: str) -> str:
    """The metric that stands for a task in a language: the strict one where the official one cannot work there.

    Whatever prints, compares or chooses by one score of a task asks here; results keep the name.
    """
    scorer = scorer_of(task)
    has_twin = scorer.strict == f"{scorer.headline}_strict"
    return scorer.strict if has_twin and needs_strict(language, task.kind) else scorer.headline
