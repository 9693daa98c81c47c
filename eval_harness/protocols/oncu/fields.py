"""The score fields that the protocol compares, from the metrics of a result."""

from builders.errors import SetupError
from eval_harness.report.table import headline_name
from eval_harness.run.results import Row
from eval_harness.scoring.evidence import RETRIEVAL_RECALL
from eval_harness.scoring.registry import scorer_of

HEADLINE = "headline"
FIELDS = (
    HEADLINE,
    "headline_strict",
    "answer_f1",
    "answer_f1_strict",
    "answer_em",
    "answer_em_strict",
    "evidence_f1",
    "joint_f1",
)
BESIDE = RETRIEVAL_RECALL  # not a score of the model: the share of gold that it was shown


def values_of(row: Row) -> dict[str, float]:
    """A counted result's score in every field, 0 to 1, and the share of gold that it was shown.

    `headline` is the task's headline metric in the dataset's language; `joint_f1` is the result's answer F1 times its
    evidence F1.
    """
    scorer = scorer_of(row.spec)
    names = (headline_name(row), scorer.strict, *scorer.fields, "evidence_f1")
    scores = [metric_of(row, name) for name in names]
    answer_f1, evidence_f1 = scores[2], scores[-1]
    return dict(zip((*FIELDS, BESIDE), (*scores, answer_f1 * evidence_f1, gold_shown(row)), strict=True))


def right(row: Row) -> bool | None:
    """Whether a counted answer is correct by the strict variant of the task's headline; None if undefined."""
    scorer = scorer_of(row.spec)
    return None if scorer.graded else metric_of(row, scorer.strict) >= 1


def gold_shown(row: Row) -> float:
    """The share of gold that the result's condition showed the model."""
    if row.condition == "closed_book":
        return 0.0
    return metric_of(row, RETRIEVAL_RECALL) if row.condition.startswith("retrieved") else 1.0


def metric_of(row: Row, name: str) -> float:
    """A counted result's metric; SetupError if another version scored it without this metric."""
    if name not in row.scores:
        raise SetupError(
            f"{row.id} ({row.config}, {row.method}) has no {name}: it was scored by another version; rerun it"
        )
    return row.scores[name]
