"""A reply in a conversation, which is better or worse and never right."""

from eval_harness.scoring.base import Fields, Scorer, together
from eval_harness.scoring.measures import kilt_rouge_l, rouge_l, token_f1

DIALOGUE = Scorer(
    "a reply in a conversation: ROUGE-L",
    rouge_l.METRICS + kilt_rouge_l.METRICS + token_f1.METRICS,
    together(rouge_l.score, kilt_rouge_l.score, token_f1.score),
    Fields("rouge_l", "rouge_l_strict", "rouge_l", "rouge_l_strict"),
    graded=True,
)
