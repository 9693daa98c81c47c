"""The head alone: what it is given, what its scores depend on, and its loss."""

from math import exp, log
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from builders.errors import SetupError
from eval_harness.methods.head.files import FILE, read_head, write_head
from eval_harness.methods.head.scorer import Scorer, Shape, new_head, retrieval_loss, scores_of

SPANS = [(2, 5), (5, 6), (6, 10)]


def states(seed: int = 0) -> torch.Tensor:
    return torch.randn(14, 8, generator=torch.Generator().manual_seed(seed))


def head(scorer: Scorer = "mlp") -> torch.nn.ModuleDict:
    return new_head(Shape(8, 6, scorer), seed=3)


def test_scores_are_those_of_pooled_vectors_side_by_side() -> None:
    """Each score computed from its own pair of means, one passage at a time."""
    ours, given = head(), states()
    found = scores_of(ours, given, (10, 13), SPANS)

    def normal(one: torch.Tensor) -> torch.Tensor:
        return (one - one.mean()) / (one.var(unbiased=False) + 1e-5).sqrt()

    def vector(name: str, start: int, end: int) -> torch.Tensor:
        mean = normal(given[start:end].mean(dim=0))
        return normal(torch.tanh(ours[name].weight @ mean + ours[name].bias))

    first, _, last = ours["scorer"]
    for place, span in enumerate(SPANS):
        pair = torch.cat([vector("query", 10, 13), vector("passage", *span)])
        want = last(torch.nn.functional.gelu(first(pair)))
        assert found[place].item() == pytest.approx(want.item(), abs=1e-5)


def test_a_passage_has_its_score_whatever_stands_beside_it() -> None:
    """Any number of passages: one alone, all, and fifty."""
    ours, given = head(), states()
    whole = scores_of(ours, given, (10, 13), SPANS)
    alone = [scores_of(ours, given, (10, 13), [span]).item() for span in SPANS]
    assert whole.tolist() == pytest.approx(alone, abs=1e-6)
    long = torch.randn(120, 8)
    assert scores_of(ours, long, (110, 115), [(2 * at, 2 * at + 2) for at in range(50)]).shape == (50,)


def ranking(ours: torch.nn.ModuleDict, given: torch.Tensor) -> list[int]:
    spans = [(at, at + 1) for at in range(40)]
    return scores_of(ours, given, (40, 41), spans).argsort().tolist()


def test_a_linear_scorer_cannot_rank_by_the_question_and_the_other_can() -> None:
    given = torch.randn(41, 8, generator=torch.Generator().manual_seed(1))
    other = given.clone()
    other[40] = -given[40]
    assert ranking(head("linear"), given) == ranking(head("linear"), other)
    assert ranking(head("mlp"), given) != ranking(head("mlp"), other)


def test_no_gradient_goes_to_the_states() -> None:
    given = states().requires_grad_()
    ours = head()
    retrieval_loss(scores_of(ours, given, (10, 13), SPANS), [1]).backward()
    assert given.grad is None
    assert all(weight.grad is not None for weight in ours.parameters())


def test_a_seed_gives_the_same_head_and_leaves_other_randomness_alone() -> None:
    torch.manual_seed(5)
    want = torch.rand(1)
    torch.manual_seed(5)
    one = new_head(Shape(8, 6), seed=2)
    assert torch.equal(torch.rand(1), want)
    assert torch.equal(one["query"].weight, new_head(Shape(8, 6), seed=2)["query"].weight)
    assert not torch.equal(one["query"].weight, new_head(Shape(8, 6), seed=3)["query"].weight)


def test_the_loss_compares_each_gold_passage_with_all_that_are_not() -> None:
    scores = torch.tensor([1.0, 2.0, 0.5, -1.0])
    rest = exp(0.5) + exp(-1.0)
    want = (-log(exp(1.0) / (exp(1.0) + rest)) - log(exp(2.0) / (exp(2.0) + rest))) / 2
    assert float(retrieval_loss(scores, [0, 1])) == pytest.approx(want)


def test_two_gold_passages_far_above_the_others_cost_nothing() -> None:
    assert float(retrieval_loss(torch.tensor([30.0, 30.0, 0.0]), [0, 1])) < 1e-9


@pytest.mark.parametrize("gold", [[], [0, 1, 2]])
def test_where_nothing_is_to_be_told_apart_the_loss_and_its_gradient_are_zero(gold: list[int]) -> None:
    scores = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = retrieval_loss(scores, gold)
    loss.backward()
    assert float(loss) == 0
    assert scores.grad is not None
    assert scores.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("scorer", ["mlp", "linear"])
def test_a_head_is_read_as_it_was_written(tmp_path: Path, scorer: Scorer) -> None:
    ours = head(scorer)
    write_head(tmp_path, ours.state_dict(), scorer)
    found = read_head(tmp_path)
    assert not found.training
    assert torch.equal(scores_of(found, states(), (10, 13), SPANS), scores_of(ours, states(), (10, 13), SPANS))


def test_a_missing_or_broken_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="icr2 train head"):
        read_head(tmp_path)
    (tmp_path / FILE).write_bytes(b"no weights")
    with pytest.raises(SetupError, match="is no head"):
        read_head(tmp_path)
    save_file({"query.weight": torch.zeros(2, 3)}, tmp_path / FILE)
    with pytest.raises(SetupError, match="its format is None"):
        read_head(tmp_path)
    weights = {name: tensor for name, tensor in head().state_dict().items() if name != "scorer.2.bias"}
    save_file(weights, tmp_path / FILE, {"format": "icr2-head/1", "scorer": "mlp"})
    with pytest.raises(SetupError, match="is no head"):
        read_head(tmp_path)
