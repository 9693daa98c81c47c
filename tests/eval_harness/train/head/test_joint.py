"""Which weights each loss moves, and by which way."""

from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, MistralConfig

from builders.errors import SetupError
from eval_harness.methods.head.scorer import Shape, new_head
from eval_harness.train.head import joint as module
from eval_harness.train.head.examples import Drawn, batch_of
from eval_harness.train.head.joint import Loss, Objective, joint, recall
from eval_harness.train.head.passes import Example

SPANS = [(4, 9), (9, 17), (17, 22), (22, 30), (30, 33)]


def parts(objective: Objective) -> Any:
    torch.manual_seed(4)
    network = AutoModelForCausalLM.from_config(
        LlamaConfig(
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            vocab_size=90,
            max_position_embeddings=512,
            num_attention_heads=4,
            num_key_value_heads=2,
            initializer_range=0.3,
        )
    )
    return joint(network, new_head(Shape(32, 8)), objective, "tiny").train()


def batch(spans: list[tuple[int, int]] = SPANS, gold: tuple[int, ...] = (1, 3), draw: int = 0) -> dict[str, Any]:
    n = spans[-1][1] + 9
    ids = torch.randint(2, 90, (n + 6,), generator=torch.Generator().manual_seed(2)).tolist()
    return batch_of([Drawn(draw, Example(ids, n, (n - 7, n - 2), spans, list(gold)))])


def moved(ours: Any) -> dict[str, float]:
    """How far the gradients of the model and of each part of the head reach."""
    found = {"network": 0.0, "query": 0.0, "passage": 0.0, "scorer": 0.0}
    for name, weight in ours.named_parameters():
        part = name.split(".")[0] if name.startswith("network") else name.split(".")[1]
        found[part] += 0.0 if weight.grad is None else float(weight.grad.abs().sum())
    return found


def test_ret_moves_the_head_and_its_encoders_alone() -> None:
    ours = parts(Objective("ret", 2))
    before = [weight.clone() for weight in ours.network.parameters()]
    optimiser = torch.optim.AdamW(ours.parameters(), lr=0.1)
    ours(**batch())["loss"].backward()
    found = moved(ours)
    optimiser.step()
    assert found["network"] == 0
    assert min(found["query"], found["passage"], found["scorer"]) > 0
    assert all(map(torch.equal, before, ours.network.parameters()))


def test_beside_gen_the_loss_of_the_retrieval_still_gives_the_model_nothing() -> None:
    """The model's gradients under gen+ret are those under gen, to the bit."""
    both, alone = parts(Objective("gen+ret", 2)), parts(Objective("gen", 2))
    for ours in (both, alone):
        ours(**batch())["loss"].backward()
    for one, other in zip(both.network.parameters(), alone.network.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)
    assert not torch.equal(both.head["query"].weight.grad, alone.head["query"].weight.grad)


def test_a_model_with_windows_can_have_a_head_but_cannot_learn_to_answer_from_its_choice() -> None:
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 90}
    config = MistralConfig(**sizes, num_attention_heads=4, num_key_value_heads=2, sliding_window=8)
    network = AutoModelForCausalLM.from_config(config)
    with pytest.raises(SetupError, match="tiny has windows or states of its own"):
        joint(network, new_head(Shape(32, 8)), Objective("gen+ret", 2), "tiny")
    ours = joint(network, new_head(Shape(32, 8)), Objective("ret", 2), "tiny").train()
    ours(**batch())["loss"].backward()
    assert moved(ours)["scorer"] > 0


def test_gen_moves_the_model_and_the_head() -> None:
    ours = parts(Objective("gen", 2))
    ours(**batch())["loss"].backward()
    assert min(moved(ours).values()) > 0


def test_gen_reaches_the_head_through_the_mask_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mask that passes no gradient the head gets none, and the model what it got."""
    ours, cut = parts(Objective("gen", 2)), parts(Objective("gen", 2))
    ours(**batch())["loss"].backward()
    plain = module.straight_through
    monkeypatch.setattr(module, "straight_through", lambda *given: plain(*given).detach())
    cut(**batch())["loss"].backward()
    assert moved(cut) | {"network": 0} == {"network": 0, "query": 0, "passage": 0, "scorer": 0}
    for one, other in zip(ours.network.parameters(), cut.network.parameters(), strict=True):
        assert torch.equal(one.grad, other.grad)


@pytest.mark.parametrize("loss", ["gen", "ret", "gen+ret"])
@pytest.mark.parametrize("n", [1, 3, 4, 50])
def test_any_number_of_passages(n: int, loss: Loss) -> None:
    """Fewer than K, K, and many more: finite, and the head moves by gen only where there is something to choose."""
    ours = parts(Objective(loss, 4))
    found = ours(**batch([(4 + 3 * at, 7 + 3 * at) for at in range(n)], gold=(n - 1,)))
    found["loss"].backward()
    gradients = [weight.grad for weight in ours.parameters() if weight.requires_grad]
    assert all(gradient is not None and torch.isfinite(gradient).all() for gradient in gradients)
    chooses = n > 4 if loss == "gen" else n > 1
    assert (moved(ours)["scorer"] > 0) == chooses
    if n <= 4:
        assert found["recall"].tolist() == [1.0]


def test_noise_belongs_to_the_draw_and_is_left_out_of_evaluation() -> None:
    ours = parts(Objective("gen", 1))
    losses = [float(ours(**batch(draw=draw))["loss"].detach()) for draw in range(12)]
    again = [float(ours(**batch(draw=draw))["loss"].detach()) for draw in range(12)]
    assert losses == again
    assert len(set(losses)) > 1
    ours.eval()
    assert len({float(ours(**batch(draw=draw))["loss"].detach()) for draw in range(12)}) == 1


def test_recall_is_the_share_of_gold_among_the_highest() -> None:
    scores = torch.tensor([0.1, 0.9, 0.5, 0.7])
    assert [recall(scores, [1, 2], k) for k in (1, 2, 3)] == [0.5, 0.5, 1.0]


def test_the_temperature_falls_by_one_factor_a_step() -> None:
    objective = Objective(first_temperature=1.0, last_temperature=0.01)
    assert [objective.temperature(step, 5) for step in range(5)] == pytest.approx([1, 10**-0.5, 0.1, 10**-1.5, 0.01])
    assert objective.temperature(0, 1) == 1.0
