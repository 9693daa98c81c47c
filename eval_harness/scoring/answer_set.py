"""A question that all of its answers together answer (LOFT's QUEST and QAMPARI)."""

from eval_harness.scoring.base import Fields, Scorer
from eval_harness.scoring.measures import multi_answer

ANSWER_SET = Scorer(
    "a question that all of its answers together answer: LOFT's subspan exact match for sets",
    multi_answer.METRICS,
    multi_answer.score,
    Fields("answer_f1", "answer_f1", "em", "em_strict"),
)
