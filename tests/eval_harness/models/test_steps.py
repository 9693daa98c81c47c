"""Output in steps: what is hidden after a retrieval equals an explicit mask, and retrievals are told from answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, DynamicCache, GPT2Config, LlamaConfig, MistralConfig, Qwen2Config

from builders.errors import SetupError
from eval_harness.models.base import MARKS
from eval_harness.models.hf import HfModel
from eval_harness.models.steps import Written, blocked, greedy, marks_of, retrieval

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "vocab_size": 90,
    "max_position_embeddings": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.6,
}
CONFIGS = {
    "llama": LlamaConfig(**SIZES),
    "qwen2": Qwen2Config(**SIZES),
    "gpt2": GPT2Config(n_embd=32, n_layer=3, n_head=4, n_positions=128, vocab_size=90, initializer_range=0.6),
}
OPEN_ID, CLOSE_ID = 88, 89


class Local:
    """The part of a model that steps need, over a random network."""

    name = "tiny"
    max_positions = 128
    stops: list[int] = []  # noqa: RUF012

    def __init__(self, config: Any) -> None:
        torch.manual_seed(4)
        self.network: Any = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()

    def guarded(self, compute: Any, size: str) -> Any:
        with torch.inference_mode():
            return compute()


def written_by(model: Local, prompt: list[int], output: list[int]) -> Written:
    cache = DynamicCache(config=model.network.config)
    with torch.inference_mode():
        model.network(input_ids=torch.tensor([(prompt + output)[:-1]]), cache=cache, use_cache=True)
    start = len(prompt) + 1
    return Written(prompt, output, (start, len(prompt) + len(output) - 1), cache)


def by_mask(model: Local, ids: list[int], first: int, hidden: Sequence[tuple[int, int]], n: int) -> list[int]:
    """Greedy tokens, each from one pass over all tokens in which rows from `first` on are masked by hand."""
    ids = list(ids)
    for _ in range(n):
        size = len(ids)
        mask = torch.full((size, size), float("-inf")).triu(1)
        for start, end in hidden:
            mask[first:, start:end] = float("-inf")
        with torch.inference_mode():
            logits = model.network(input_ids=torch.tensor([ids]), attention_mask=mask[None, None]).logits
        ids.append(int(logits[0, -1].argmax()))
    return ids[-n:]


@pytest.mark.parametrize("name", CONFIGS)
def test_hiding_passages_equals_an_explicit_mask(name: str) -> None:
    model: Any = Local(CONFIGS[name])
    generator = torch.Generator().manual_seed(2)
    prompt = torch.randint(0, 88, (40,), generator=generator).tolist()
    output = [OPEN_ID, *torch.randint(0, 88, (9,), generator=generator).tolist(), CLOSE_ID]
    hidden = [(6, 14), (14, 22), (22, 30)]
    mark = len(prompt) + len(output) - 1
    found = blocked(model, written_by(model, prompt, output), hidden, 16)
    assert found == by_mask(model, prompt + output, mark, hidden, 16)
    assert found != by_mask(model, prompt + output, mark, [], 16)
    assert blocked(model, written_by(model, prompt, output), [], 16) == by_mask(model, prompt + output, mark, [], 16)


def test_a_window_cannot_be_hidden_in() -> None:
    model: Any = Local(MistralConfig(**SIZES, sliding_window=8))
    with pytest.raises(SetupError, match="part of its context cannot be hidden"):
        blocked(model, written_by(model, [1, 2, 3], [OPEN_ID, 5, CLOSE_ID]), [(0, 1)], 4)


def test_greedy_stops_with_the_first_stop_and_at_the_limit() -> None:
    model = Local(CONFIGS["llama"])
    with torch.inference_mode():
        ten = greedy(model.network, [1, 2, 3], 0, DynamicCache(config=model.network.config), 10, ())
        cut = greedy(model.network, [1, 2, 3], 0, DynamicCache(config=model.network.config), 10, (ten[4],))
    assert len(ten) == 10
    assert cut == ten[: ten.index(ten[4]) + 1]


def test_marks_are_kept_in_the_text_of_an_output_and_other_control_tokens_are_not(marked: HfModel) -> None:
    opens, closes = marks_of(marked)
    plain = marked.tokenizer("ab", add_special_tokens=False).input_ids
    assert marked.decode([opens, *plain, closes, *plain, marked.tokenizer.eos_token_id]) == f"{MARKS[0]}ab{MARKS[1]}ab"


def test_marks_in_a_prompt_are_plain_text(marked: HfModel) -> None:
    """A passage that holds a mark must not be taken for a retrieval."""
    assert not set(marks_of(marked)) & set(marked.encode(f"a passage with {MARKS[0]} in it {MARKS[1]}"))


@pytest.fixture(scope="module")
def marked(marked_folder: Path) -> HfModel:
    return HfModel(marked_folder, "marked", "r", "float32")


def outputs(marked: HfModel, monkeypatch: pytest.MonkeyPatch, output: list[int]) -> Written:
    """What is made of an output that the model is said to write."""
    monkeypatch.setattr("eval_harness.models.steps.greedy", lambda *given: list(output))
    return retrieval(marked, "question")


def test_a_retrieval_is_what_stands_between_the_marks(marked: HfModel, monkeypatch: pytest.MonkeyPatch) -> None:
    opens, closes = marks_of(marked)
    n = len(marked.encode("question"))
    whole = outputs(marked, monkeypatch, [opens, 50, 51, 52, closes])
    assert whole.inside == (n + 1, n + 4)
    assert outputs(marked, monkeypatch, [50, opens, 51, closes]).inside == (n + 2, n + 3)
    assert outputs(marked, monkeypatch, [opens, 50, 51]).inside == (n + 1, n + 3)  # cut off at the limit
    assert outputs(marked, monkeypatch, [opens, closes]).inside == (n + 1, n + 1)
    assert outputs(marked, monkeypatch, [50, 51, marked.stops[0]]).inside == (n + 3, n + 3)  # none was written


def test_a_retrieval_after_a_prefix_is_that_of_a_fresh_run(marked: HfModel) -> None:
    prompts = ["a shared beginning and a question", "a shared beginning and another"]
    prefix = marked.prefill(prompts)
    assert prefix is not None
    fresh, known = retrieval(marked, prompts[0]), retrieval(marked, prompts[0], prefix)
    assert (fresh.output, fresh.inside) == (known.output, known.inside)
    assert prefix.cache.get_seq_length() == prefix.n_tokens
