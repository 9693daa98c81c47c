"""Gumbel top-K (Kool et al., 2019) that passes gradients straight through to its relaxation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from builders.seeds import rng_for

if TYPE_CHECKING:
    import torch

_LEAST = 1e-12  # of what is left of a choice: of a certain one, nothing would be, and its logarithm is infinite


def top_k(scores: "torch.Tensor", k: int) -> list[int]:
    """The places of the K highest scores in rising order, all where there are no more than K; of equals, the first."""
    return sorted(scores.argsort(descending=True, stable=True)[:k].tolist())


def gumbel(n: int, *names: str) -> "torch.Tensor":
    """Standard Gumbel noise that depends on `names` alone, [n] in float64.

    The K highest of scores with this noise are K draws without replacement, each by the softmax of what is left.
    """
    import torch

    rng = rng_for(*names, "gumbel")
    uniform = torch.tensor([(rng.getrandbits(53) + 0.5) / 2**53 for _ in range(n)], dtype=torch.float64)
    return -torch.log(-torch.log(uniform))


def relaxed_top_k(scores: "torch.Tensor", k: int, temperature: float) -> "torch.Tensor":
    """How much of each passage is among the top K, [passages] with the sum K (Xie and Ermon, 2019).

    K softmaxes at the temperature, each over what the earlier ones left: a weight w takes log(1 - w) off its score.
    As the temperature falls, this becomes the mask of the top K.
    """
    import torch

    left, total = scores, torch.zeros_like(scores)
    for _ in range(k):
        logs = torch.log_softmax(left / temperature, dim=0)
        total = total + logs.exp()
        left = left + torch.log(-torch.expm1(logs.clamp(max=-_LEAST)))
    return total


def straight_through(scores: "torch.Tensor", k: int, temperature: float) -> "torch.Tensor":
    """The mask of the top K, 0 or 1 for each passage, whose gradient is that of the relaxation.

    With K passages or fewer there is nothing to choose, and the gradient is 0. Computed in float64.
    """
    import torch

    if k >= len(scores):
        return torch.ones_like(scores) + 0 * scores
    relaxed = relaxed_top_k(scores.double(), k, temperature)
    hard = mask_of(top_k(scores, k), relaxed)
    return (hard + relaxed - relaxed.detach()).to(scores.dtype)


def mask_of(chosen: Sequence[int], like: "torch.Tensor") -> "torch.Tensor":
    """1 at the chosen places and 0 elsewhere, in the shape and type of `like`."""
    import torch

    mask = torch.zeros_like(like)
    mask[list(chosen)] = 1
    return mask
