"""The head itself: encoders of the question and of passages, and a score for each pair (paper, section 4.3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from eval_harness.probing.spans import Span

if TYPE_CHECKING:
    import torch

Scorer = Literal["mlp", "linear"]


class Shape(NamedTuple):
    """Sizes of a head: of the model's hidden states, and of the vectors that it makes of them; and how it scores."""

    hidden: int
    width: int
    scorer: Scorer = "mlp"


def new_head(shape: Shape, seed: int = 0) -> "torch.nn.ModuleDict":
    """A head with random weights of a seed, in float32: `query` and `passage`, one layer each, and the `scorer`.

    One linear layer over both vectors side by side, the `linear` scorer, adds the question's part to every score alike
    and so ranks the passages of all questions in one order; `mlp` has a hidden layer, in which the two meet.
    """
    import torch
    from torch.nn import GELU, Linear, ModuleDict, Sequential

    hidden, width, scorer = shape
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        last = Linear(2 * width, 1) if scorer == "linear" else Linear(width, 1)
        layers = [last] if scorer == "linear" else [Linear(2 * width, width), GELU(), last]
        return ModuleDict(
            {"query": Linear(hidden, width), "passage": Linear(hidden, width), "scorer": Sequential(*layers)}
        )


def scores_of(head: Any, states: "torch.Tensor", question: Span, passages: Sequence[Span]) -> "torch.Tensor":
    """The score of each passage, [passages] in float32, from the final hidden states of a prompt's tokens.

    `states` is [tokens, hidden]; `question` and `passages` say which tokens are whose. No gradient goes to the states.
    """
    import torch

    pooled = _normal(_means(states.detach(), [question, *passages]))  # models differ in the size of their states
    with torch.autocast(states.device.type, enabled=False):
        pooled = pooled.to(head["query"].weight.dtype)
        asked = _normal(torch.tanh(head["query"](pooled[:1]))).expand(len(passages), -1)
        read = _normal(torch.tanh(head["passage"](pooled[1:])))
        found: torch.Tensor = head["scorer"](torch.cat([asked, read], dim=1))[:, 0]
    return found.float()


def retrieval_loss(scores: "torch.Tensor", gold: Sequence[int]) -> "torch.Tensor":
    """The mean over gold passages of -log softmax of their score among those of passages that are not gold.

    It is 0 where nothing is to be told apart, and near 0 once every gold passage is above all others by far.
    """
    import torch

    others = torch.ones_like(scores, dtype=torch.bool)
    others[list(gold)] = False
    if not others.any() or others.all():
        return 0 * scores.sum()
    return torch.nn.functional.softplus(scores[others].logsumexp(dim=0) - scores[~others]).mean()


def _means(states: "torch.Tensor", spans: Sequence[Span]) -> "torch.Tensor":
    """The mean of the states in each span, [spans, hidden] in float32."""
    import torch

    return torch.stack([states[start:end].float().mean(dim=0) for start, end in spans])


def _normal(vectors: "torch.Tensor") -> "torch.Tensor":
    """Each vector with mean 0 and variance 1."""
    import torch

    return torch.nn.functional.layer_norm(vectors, vectors.shape[1:])
