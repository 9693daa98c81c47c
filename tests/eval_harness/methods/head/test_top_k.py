"""Gumbel top-K: draws without replacement, a relaxation with the sum K, and gradients that pass straight through."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.methods.head.top_k import gumbel, relaxed_top_k, straight_through, top_k

SCORES = [0.3, -1.2, 0.9, 0.1, -0.4]


def tensor(values: list[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def by_hand(scores: np.ndarray, k: int, temperature: float) -> np.ndarray:
    """K softmaxes one after another, in numpy."""
    left, total = scores.copy(), np.zeros_like(scores)
    for _ in range(k):
        weights = np.exp((left - left.max()) / temperature)
        weights /= weights.sum()
        total += weights
        left = left + np.log1p(-weights)
    return total


def test_the_highest_are_chosen_and_of_equals_the_first() -> None:
    assert top_k(torch.tensor([1.0, 3.0, 2.0, 3.0]), 2) == [1, 3]
    assert top_k(torch.tensor([2.0, 3.0, 2.0, 2.0]), 2) == [0, 1]
    assert top_k(torch.tensor([2.0, 1.0]), 5) == [0, 1]


def test_noise_depends_on_its_names_alone() -> None:
    assert torch.equal(gumbel(4, "0", "a"), gumbel(4, "0", "a"))
    assert not torch.equal(gumbel(4, "0", "a"), gumbel(4, "1", "a"))


def test_with_noise_the_top_k_are_draws_without_replacement() -> None:
    """How often each passage is among two of three, against the sum over all orders of drawing (Plackett-Luce)."""
    weights = [0.5, 0.3, 0.2]
    want = [0.0] * 3
    for first, second, _ in permutations(range(3)):
        chance = weights[first] * weights[second] / (1 - weights[first])
        want[first] += chance
        want[second] += chance
    scores, n = tensor(weights).log(), 20_000
    found = np.zeros(3)
    for draw in range(n):
        found[top_k(scores + gumbel(3, "draws", str(draw)), 2)] += 1
    assert found / n == pytest.approx(want, abs=0.015)  # over four standard errors


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=9), st.integers(1, 9), st.sampled_from([0.1, 0.5, 1.0]))
def test_the_relaxation_shares_k_out(scores: list[float], k: int, temperature: float) -> None:
    k = min(k, len(scores))
    found = relaxed_top_k(tensor(scores), k, temperature)
    assert torch.isfinite(found).all() and (found >= 0).all()
    assert float(found.sum()) == pytest.approx(k)


@pytest.mark.parametrize(("k", "temperature"), [(1, 1.0), (2, 1.0), (3, 0.7), (2, 0.3)])
def test_the_relaxation_is_k_softmaxes_one_after_another(k: int, temperature: float) -> None:
    found = relaxed_top_k(tensor(SCORES), k, temperature)
    assert found.tolist() == pytest.approx(by_hand(np.array(SCORES), k, temperature).tolist(), abs=1e-12)


def test_it_becomes_the_mask_as_the_temperature_falls() -> None:
    want = [1.0, 0.0, 1.0, 0.0, 0.0]
    gaps = [float((relaxed_top_k(tensor(SCORES), 2, t) - tensor(want)).abs().max()) for t in (1.0, 0.3, 0.1, 0.01)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-7


def loss_of(mask: torch.Tensor) -> torch.Tensor:
    """A loss that is not linear in the mask."""
    weights = tensor([0.7, -0.3, 1.1, 0.4, -0.8])
    return ((mask * weights).sum() - 0.4) ** 2 + torch.sin(mask @ weights.flip(0))


def gradient(mask_of: object, scores: list[float]) -> torch.Tensor:
    leaf = tensor(scores).requires_grad_()
    loss_of(mask_of(leaf)).backward()  # type: ignore[operator]
    assert leaf.grad is not None
    return leaf.grad


def test_forward_is_hard() -> None:
    assert straight_through(tensor(SCORES), 2, 1.0).tolist() == pytest.approx([1, 0, 1, 0, 0], abs=1e-15)


def test_gradients_agree_with_the_relaxed_loss_in_the_limit() -> None:
    """The straight-through gradient against the loss of the relaxed mask, as the temperature falls."""
    off = []
    for temperature in (0.3, 0.1, 0.05, 0.02):
        ours = gradient(lambda s, t=temperature: straight_through(s, 2, t), SCORES)
        relaxed = gradient(lambda s, t=temperature: relaxed_top_k(s, 2, t), SCORES)
        off.append(float((ours - relaxed).norm() / relaxed.norm()))
    assert off == sorted(off, reverse=True)
    assert off[-1] < 1e-3


def test_gradients_of_the_relaxation_are_its_finite_differences() -> None:
    weights, step = np.array([0.7, -0.3, 1.1, 0.4, -0.8]), 1e-6
    want = []
    for at in range(len(SCORES)):
        up, down = np.array(SCORES), np.array(SCORES)
        up[at] += step
        down[at] -= step
        want.append((by_hand(up, 3, 0.5) - by_hand(down, 3, 0.5)) @ weights / (2 * step))
    leaf = tensor(SCORES).requires_grad_()
    (straight_through(leaf, 3, 0.5) @ tensor(weights.tolist())).backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == pytest.approx(want, rel=1e-5)


def test_with_one_passage_to_choose_it_is_the_softmax() -> None:
    """K=1 is the straight-through Gumbel-softmax of Jang et al. (2017)."""
    leaf, other = tensor(SCORES).requires_grad_(), tensor(SCORES).requires_grad_()
    loss_of(straight_through(leaf, 1, 0.7)).backward()
    soft = torch.softmax(other / 0.7, dim=0)
    hard = torch.nn.functional.one_hot(soft.argmax(), 5) - soft.detach() + soft
    loss_of(hard).backward()
    assert leaf.grad is not None and other.grad is not None
    assert leaf.grad.tolist() == pytest.approx(other.grad.tolist())


@pytest.mark.parametrize("n", [1, 2, 4])
def test_with_k_passages_or_fewer_there_is_nothing_to_choose(n: int) -> None:
    leaf = tensor(SCORES[:n]).requires_grad_()
    mask = straight_through(leaf, 4, 0.5)
    mask.sum().backward()
    assert mask.tolist() == [1.0] * n
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [0.0] * n


def test_many_passages_and_far_scores_give_finite_gradients() -> None:
    scores = [40.0 * (-1) ** at for at in range(50)]
    leaf = tensor(scores).requires_grad_()
    (straight_through(leaf, 4, 0.05) @ torch.arange(50.0, dtype=torch.float64)).backward()
    assert leaf.grad is not None
    assert torch.isfinite(leaf.grad).all()
