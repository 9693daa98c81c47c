"""Token F1 and precision, and how long the prediction is."""

from collections import Counter
from collections.abc import Sequence

from builders.text import marked
from eval_harness.scoring.measures.published import loft_form

METRICS = ("token_f1", "token_f1_strict", "token_precision", "token_precision_strict", "n_pred_tokens")

_YES_NO = (["yes"], ["no"])


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`token_f1` and `token_precision`, each the best over the answers, with their strict twins; 0 to 1.

    With c common words, p predicted and g in the answer: precision c/p, F1 2c/(p+g) (SQuAD, Rajpurkar et al. 2016; as
    in LOFT and KILT). The strict ones use our normal form, and HotpotQA's rule (Yang et al. 2018): yes and no match
    only themselves, so that `no one` scores 0 against `no`. `n_pred_tokens` is p in our normal form, a count.
    """
    official = [_overlap(loft_form(prediction).split(), loft_form(answer).split()) for answer in answers]
    words = marked(prediction).split()
    strict = [_strict_overlap(words, marked(answer).split()) for answer in answers]
    return {
        "token_f1": max(f1 for f1, _ in official),
        "token_f1_strict": max(f1 for f1, _ in strict),
        "token_precision": max(precision for _, precision in official),
        "token_precision_strict": max(precision for _, precision in strict),
        "n_pred_tokens": float(len(words)),
    }


def _strict_overlap(predicted: list[str], answer: list[str]) -> tuple[float, float]:
    if predicted != answer and (predicted in _YES_NO or answer in _YES_NO):
        return 0.0, 0.0
    return _overlap(predicted, answer)


def _overlap(predicted: Sequence[str], answer: Sequence[str]) -> tuple[float, float]:
    """F1 and precision against one answer; 0 where no word is shared, so also where both are empty."""
    common = sum((Counter(predicted) & Counter(answer)).values())
    if not common:
        return 0.0, 0.0
    return 2 * common / (len(predicted) + len(answer)), common / len(predicted)
