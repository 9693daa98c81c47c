"""A question that any one of its answers answers."""

from eval_harness.scoring.base import Fields, Scorer, together
from eval_harness.scoring.measures import coverage, exact_match, recall_em, subspan_em, token_f1

QA = Scorer(
    "a question that any one of its answers answers: subspan exact match",
    subspan_em.METRICS + exact_match.METRICS + token_f1.METRICS + recall_em.METRICS + coverage.METRICS,
    together(subspan_em.score, exact_match.score, token_f1.score, recall_em.score, coverage.score),
    Fields("token_f1", "token_f1_strict", "em", "em_strict"),
)
