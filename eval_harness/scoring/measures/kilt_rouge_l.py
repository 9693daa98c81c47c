"""ROUGE-L as KILT reports it, by the `rouge` package, which counts distinct words."""

from collections.abc import Sequence

METRICS = ("rouge_l_kilt",)


def score(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """`rouge_l_kilt`, best over the answers; 0 to 1.

    With u distinct words in the union of longest common subsequences over pairs of sentences (Lin 2004, section 3.2),
    g distinct words in the answer and p in the prediction: R = u/g, P = u/p, F = 2PR / (P + R + 1e-8). Sentences end
    at every full stop; words keep case and punctuation.
    """
    return {"rouge_l_kilt": max(_f(_sentences(prediction), _sentences(answer)) for answer in answers)}


def _f(predicted: list[list[str]], answer: list[list[str]]) -> float:
    union: set[str] = set()
    for sentence in answer:
        for other in predicted:
            union.update(_common_subsequence(sentence, other))
    if not union:
        return 0.0
    recall = len(union) / len({word for sentence in answer for word in sentence})
    precision = len(union) / len({word for sentence in predicted for word in sentence})
    return 2 * (precision * recall / (precision + recall + 1e-8))


def _sentences(text: str) -> list[list[str]]:
    return [sentence.split() for sentence in text.split(".")]


def _common_subsequence(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """A longest common subsequence, from its end; of several, the one that shortens `other` first."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, word in enumerate(one):
        for j, candidate in enumerate(other):
            lengths[i + 1][j + 1] = (
                lengths[i][j] + 1 if word == candidate else max(lengths[i][j + 1], lengths[i + 1][j])
            )
    found, i, j = [], len(one), len(other)
    while i and j:
        if one[i - 1] == other[j - 1]:
            found.append(one[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found
