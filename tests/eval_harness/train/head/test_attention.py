"""What is hidden in the second pass: an explicit mask gives the same, and every passage has its derivative."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, DynamicCache, GPT2Config, LlamaConfig, MistralConfig, Qwen2Config

from builders.errors import SetupError
from eval_harness.methods.head.scorer import Shape, new_head
from eval_harness.methods.head.top_k import relaxed_top_k, straight_through
from eval_harness.models.steps import greedy, selected
from eval_harness.train.head.attention import Chosen, Kept, use
from eval_harness.train.head.passes import Example, answer_logits, generation_loss, over_tokens, read

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "vocab_size": 90,
    "max_position_embeddings": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
CONFIGS = {
    "llama": LlamaConfig(**SIZES),
    "qwen2": Qwen2Config(**SIZES),
    "gpt2": GPT2Config(
        n_embd=32,
        n_layer=3,
        n_head=4,
        n_positions=256,
        vocab_size=90,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    ),
}
PASSAGES = [(4, 9), (9, 17), (17, 22), (22, 30)]
ANSWER = 6


def network_of(name: str, chooses: bool = True, spread: float = 0.3) -> Any:
    torch.manual_seed(4)
    config = deepcopy(CONFIGS[name])
    config.initializer_range = spread
    network = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    if chooses:
        use(network, name)
    return network


def example(passages: list[tuple[int, int]] = PASSAGES) -> Example:
    n = passages[-1][1] + 9
    ids = torch.randint(2, 90, (n + ANSWER,), generator=torch.Generator().manual_seed(2)).tolist()
    return Example(ids, n, (n - 7, n - 2), passages, [1])


def by_mask(network: Any, one: Example, hidden: list[int]) -> torch.Tensor:
    """Logits of the answer from one pass over all tokens, in which what comes after the context is masked by hand."""
    size, start = len(one.ids), one.context_end
    mask = torch.full((size, size), float("-inf")).triu(1)
    for place in hidden:
        first, end = one.passages[place]
        mask[start:, first:end] = float("-inf")
    logits = network(input_ids=torch.tensor([one.ids]), attention_mask=mask[None, None]).logits[0]
    return logits[one.n_prompt - 1 : -1]


def kept_of(network: Any, one: Example) -> Kept:
    """What the first pass keeps."""
    kept = Kept(one.context_end)
    read(network, new_head(Shape(32, 8)), one, kept)
    return kept


def ours(network: Any, one: Example, mask: torch.Tensor) -> torch.Tensor:
    return answer_logits(network, kept_of(network, one), mask, one)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("hidden", [[], [0], [1, 3], [0, 1, 2, 3]])
def test_hiding_passages_equals_an_explicit_mask(name: str, hidden: list[int]) -> None:
    one = example()
    mask = torch.ones(4)
    mask[hidden] = 0
    with torch.inference_mode():
        found = ours(network_of(name), one, mask)
        want = by_mask(network_of(name, chooses=False), one, hidden)
        other = by_mask(network_of(name, chooses=False), one, [2])
    assert found.shape == (ANSWER, 90)
    torch.testing.assert_close(found, want, atol=2e-5, rtol=1e-4)
    assert not torch.allclose(found, other, atol=1e-2)


@pytest.mark.parametrize("name", CONFIGS)
def test_an_answer_goes_on_without_what_is_hidden_as_it_is_learned(name: str) -> None:
    """What answers do at inference, keys and values left out, against greedy tokens under a mask."""
    one, hidden = example(), [0, 2]
    network = network_of(name, chooses=False).eval()
    prompt = one.ids[: one.n_prompt]
    kept = [at for at in range(30) if not any(start <= at < end for start, end in (PASSAGES[0], PASSAGES[2]))]
    with torch.inference_mode():
        cache: Any = DynamicCache(config=network.config)
        network.base_model(input_ids=torch.tensor([prompt]), cache=cache, use_cache=True)
        found = greedy(network, prompt[30:], 30, selected(network, cache, kept), 5, ())
        for place in range(5):
            tried = one._replace(ids=[*prompt, *found])
            assert found[place] == int(by_mask(network, tried, hidden)[place].argmax())


def multiplied(network: Any, one: Example, mask: torch.Tensor) -> torch.Tensor:
    """The loss where each weight is multiplied with its key's mask, from attention written out by hand (Llama)."""
    seen = over_tokens(mask, one.passages, one.context_end)
    size, start = len(one.ids), one.context_end
    keys = torch.cat([seen, torch.ones(size - start)])
    rows = torch.where(torch.arange(size)[:, None] >= start, keys[None], torch.ones(size, size))

    def attend(module: Any, query: Any, key: Any, value: Any, _: Any, **options: Any) -> Any:
        key, value = (part.repeat_interleave(module.num_key_value_groups, dim=1) for part in (key, value))
        weights = (query @ key.transpose(2, 3) * module.scaling).exp().tril() * rows
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return (weights @ value).transpose(1, 2), None

    from transformers import AttentionInterface

    AttentionInterface.register("by_hand", attend)
    network.set_attn_implementation("by_hand")
    logits = network(input_ids=torch.tensor([one.ids])).logits[0, one.n_prompt - 1 : -1]
    return torch.nn.functional.cross_entropy(logits, torch.tensor(one.ids[one.n_prompt :]))


@pytest.mark.parametrize("values", [[1.0, 0.0, 1.0, 0.0], [0.2, 0.9, 0.6, 0.3]])
def test_every_passage_has_the_derivative_of_letting_it_in(values: list[float]) -> None:
    """A hard and a soft mask, against attention whose weights are multiplied with the mask by hand."""
    one = example()
    wanted, found = (torch.tensor(values, requires_grad=True) for _ in range(2))
    plain, chooses = network_of("llama", chooses=False, spread=0.1), network_of("llama", spread=0.1)
    want = multiplied(plain, one, wanted)
    want.backward()
    loss = generation_loss(chooses, kept_of(chooses, one), found, one)
    loss.backward()
    assert loss.item() == pytest.approx(want.item(), abs=1e-5)
    assert wanted.grad is not None and found.grad is not None
    torch.testing.assert_close(found.grad, wanted.grad, atol=1e-5, rtol=1e-3)
    assert (found.grad != 0).all()
    for (name, one_weight), other in zip(chooses.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one_weight.grad, other.grad, atol=1e-5, rtol=1e-3, msg=name)


def test_a_hidden_passage_that_attention_wants_badly_has_a_finite_derivative() -> None:
    """Logits of hundreds, which overflow as weights where what is seen is taken for the highest."""
    one, network = example(), network_of("llama")
    with torch.no_grad():
        for layer in network.model.layers:
            layer.self_attn.q_proj.weight *= 300
    mask = torch.tensor([0.0, 0.0, 1.0, 0.0], requires_grad=True)
    loss = generation_loss(network, kept_of(network, one), mask, one)
    loss.backward()
    assert mask.grad is not None and torch.isfinite(mask.grad).all()
    assert all(torch.isfinite(weight.grad).all() for weight in network.parameters())


def test_gradients_through_the_hard_mask_are_those_of_the_relaxed_one_in_the_limit() -> None:
    """The loss of the answer under the mask of the top 2, against its loss under the relaxed mask, in float64."""
    one, network = example(), network_of("llama", spread=0.1).double()
    kept = kept_of(network, one)
    off = []
    for temperature in (0.3, 0.1, 0.05, 0.02):
        gradients = []
        for mask_of in (straight_through, relaxed_top_k):
            scores = torch.tensor([0.3, -1.2, 0.9, 0.1], dtype=torch.float64, requires_grad=True)
            loss = generation_loss(network, kept, mask_of(scores, 2, temperature), one)
            gradients.append(torch.autograd.grad(loss, scores, retain_graph=True)[0])
        off.append(float((gradients[0] - gradients[1]).norm() / gradients[1].norm()))
    assert off == sorted(off, reverse=True)
    assert off[-1] < 1e-3


@pytest.mark.parametrize("name", CONFIGS)
def test_activations_computed_anew_give_the_same_gradients(name: str) -> None:
    one, gradients = example(), []
    for anew in (False, True):
        network = network_of(name).train()
        if anew:
            network.activation_checkpointing_enable({"use_reentrant": False})
        mask = torch.tensor([1.0, 0.0, 1.0, 0.0], requires_grad=True)
        generation_loss(network, kept_of(network, one), mask, one).backward()
        gradients.append([mask.grad, *(weight.grad for weight in network.parameters())])
    for before, after in zip(*gradients, strict=True):
        torch.testing.assert_close(before, after)


@pytest.mark.parametrize("n", [1, 3, 50])
def test_any_number_of_passages(n: int) -> None:
    one = example([(4 + 3 * at, 7 + 3 * at) for at in range(n)])
    network = network_of("llama")
    mask = torch.zeros(n)
    mask[-1] = 1
    with torch.inference_mode():
        found = ours(network, one, mask)
        want = by_mask(network_of("llama", chooses=False), one, list(range(n - 1)))
    torch.testing.assert_close(found, want, atol=2e-5, rtol=1e-4)


def test_a_token_has_the_mask_of_its_passage() -> None:
    assert over_tokens(torch.tensor([0.0, 0.5]), [(1, 3), (3, 4)], 6).tolist() == [1, 0, 0, 0.5, 1, 1]


def test_a_window_is_refused() -> None:
    network = AutoModelForCausalLM.from_config(MistralConfig(**SIZES, sliding_window=8))
    with pytest.raises(SetupError, match="tiny has windows or states of its own"):
        use(network, "tiny")


def test_a_model_that_does_not_attend_so_is_found_out() -> None:
    network = network_of("llama", chooses=False)
    with pytest.raises(RuntimeError, match="only the layers \\[\\] keep"):
        kept_of(network, example())


def test_only_the_context_is_kept() -> None:
    network = network_of("llama")
    kept = kept_of(network, example())
    assert kept.n == 30
    assert {part.shape[2] for layer in kept.layers.values() for part in layer} == {30}
    assert isinstance(Chosen(kept, torch.ones(30)).kept, Kept)
