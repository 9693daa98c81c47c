"""Prompts that begin alike, read once: the outputs of fresh runs, and a cache that stays as it was."""

from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.hf import HfModel, Prefilled
from eval_harness.models.prefix import shared_length
from tests.eval_harness.conftest import SPECIAL, save_model, save_tokenizer

CONTEXT = "A shared context that all of these prompts begin with, some way on. " * 4
PROMPTS = [CONTEXT + end for end in ("one", "a longer question", "été?", "", "the longest question of them all by far")]


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def model(request: pytest.FixtureRequest, chat_folder: Path, base_folder: Path) -> HfModel:
    folder = chat_folder if request.param == "llama" else base_folder
    return HfModel(folder, request.param, "r", "float32")


def prefix_of(model: HfModel, prompts: list[str] = PROMPTS) -> Prefilled:
    prefix = model.prefill(prompts)
    assert prefix is not None
    return prefix


def test_outputs_are_those_of_fresh_runs_alone_and_in_a_batch(model: HfModel) -> None:
    """Left padding; a shared prefix."""
    fresh = [model.generate([prompt], 12)[0] for prompt in PROMPTS]
    assert len({one.text for one in fresh}) == len(PROMPTS)
    prefix = prefix_of(model)
    assert prefix.n_tokens >= len(CONTEXT)  # a token a byte
    want = [one._replace(n_cached_tokens=prefix.n_tokens) for one in fresh]
    assert [model.generate_after(prefix, [prompt], 12)[0] for prompt in PROMPTS] == want
    assert model.generate_after(prefix, PROMPTS, 12) == want


def test_the_prefix_stays_as_it_was(model: HfModel) -> None:
    """The second question does not see the first."""
    prefix = prefix_of(model)
    before = [(layer.keys.clone(), layer.values.clone()) for layer in prefix.cache.layers]
    first = model.generate_after(prefix, PROMPTS[:1], 12)
    model.generate_after(prefix, PROMPTS, 12)
    for layer, (keys, values) in zip(prefix.cache.layers, before, strict=True):
        assert layer.keys.equal(keys)
        assert layer.values.equal(values)
    assert model.generate_after(prefix, PROMPTS[:1], 12) == first


def test_an_output_follows_from_a_token_of_its_own(model: HfModel) -> None:
    """Equal prompts share all but their last token, and a prompt that another goes on from all but that."""
    prefix = prefix_of(model, [CONTEXT, CONTEXT])
    assert prefix.n_tokens == model.count(CONTEXT) - 1
    want = model.generate([CONTEXT], 8)[0]
    assert model.generate_after(prefix, [CONTEXT], 8)[0].text == want.text


def test_the_shared_length_is_counted_in_tokens() -> None:
    assert shared_length([[1, 2, 3], [1, 2, 4, 5], [1, 2]]) == 2
    assert shared_length([[1, 2, 3], [1, 9], [1, 2, 4]]) == 1
    assert shared_length([[7, 8]]) == 2
    assert shared_length([[1], [2]]) == 0


def test_prompts_that_share_nothing_have_no_prefix(base_folder: Path) -> None:
    model = HfModel(base_folder, "base", "r", "float32")
    assert model.prefill(["one"]) is not None
    assert model.prefill(["", "x"]) is None  # the shorter one is its begin token alone


def save_with(folder: Path, config: Any, model: Any) -> HfModel:
    model(config).save_pretrained(folder)
    save_tokenizer(folder, chat=True)
    return HfModel(folder, "m", "r", "float32")


SMALL: dict[str, Any] = {
    "vocab_size": 260,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "bos_token_id": SPECIAL["<s>"],
    "eos_token_id": SPECIAL["</s>"],
    "initializer_range": 0.5,
}


def test_a_sliding_window_is_not_shared_and_answers_all_the_same(tmp_path: Path) -> None:
    """A window counts the gap between a shared beginning and a shorter question."""
    import torch
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    model = save_with(tmp_path, MistralConfig(sliding_window=16, **SMALL), MistralForCausalLM)
    assert model.describe()["shares_prefixes"] is False
    assert model.prefill(PROMPTS) is None
    assert model.generate(PROMPTS, 8) == [model.generate([prompt], 8)[0] for prompt in PROMPTS]


def test_rotations_that_depend_on_the_longest_prompt_are_read_alone(tmp_path: Path) -> None:
    """A long neighbour would turn the positions of a short one."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0}
    config = LlamaConfig(max_position_embeddings=64, rope_parameters=rope, **SMALL)
    model = save_with(tmp_path, config, LlamaForCausalLM)
    model.max_positions = 4096
    assert model.prefill(PROMPTS) is None
    prompts = ["short", CONTEXT * 3, "short"]
    single = [model.generate([prompt], 8)[0] for prompt in prompts]
    assert single[0] == single[2]
    assert model.generate(prompts, 8) == single


def test_flash_attention_is_refused_where_it_cannot_run(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--attention flash needs a CUDA GPU"):
        HfModel(save_model(tmp_path / "m"), "m", "r", "float32", "flash")
