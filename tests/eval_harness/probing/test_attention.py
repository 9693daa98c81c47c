"""Scores of passages equal eager attention's own rows, whatever the model, the batch and the cache."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    DynamicCache,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    Qwen2Config,
)

from builders.errors import SetupError
from eval_harness.probing.attention import Scores, Watch, probed_layers, watching
from eval_harness.probing.spans import Span

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "vocab_size": 90,
    "max_position_embeddings": 64,
}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
CONFIGS = {
    "llama": LlamaConfig(**SIZES, **HEADS),
    "mistral": MistralConfig(**SIZES, **HEADS, sliding_window=8),
    "qwen2": Qwen2Config(**SIZES, **HEADS),
    "gemma3": Gemma3TextConfig(
        **SIZES,
        **HEADS,
        head_dim=8,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention", "full_attention"],
    ),
    "gpt2": GPT2Config(n_embd=32, n_layer=3, n_head=4, n_positions=64, vocab_size=90),
}
LENGTHS = (24, 17, 21, 24)
SPANS: list[Span] = [(1, 4), (4, 5), (6, 12), (12, 16)]


def model_of(name: str, attention: str = "sdpa") -> Any:
    torch.manual_seed(5)
    config = CONFIGS[name]
    config.initializer_range = 0.6  # so that heads differ
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention).eval()


def batch_of(lengths: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """Left-padded token ids, their mask, and the padding of each sequence."""
    width = max(lengths)
    generator = torch.Generator().manual_seed(1)
    ids = torch.zeros((len(lengths), width), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        ids[row, width - length :] = torch.randint(1, 90, (length,), generator=generator)
        mask[row, width - length :] = 1
    return ids, mask, [width - length for length in lengths]


def positions(mask: torch.Tensor) -> torch.Tensor:
    return (mask.cumsum(-1) - 1).clamp(min=0)


def expected(name: str, rows: Sequence[Sequence[int]], lengths: Sequence[int]) -> list[Scores]:
    """Scores of each sequence from eager attention run on it alone, pooled by loops: [layers, heads, passages]."""
    model = model_of(name, "eager")
    ids, _, padding = batch_of(lengths)
    window = 8 if name == "mistral" else None
    found = []
    for at, (length, pad) in enumerate(zip(lengths, padding, strict=True)):
        with torch.no_grad():
            maps = model(ids[at : at + 1, pad:], output_attentions=True).attentions
        kinds: dict[str, list] = {"sum": [], "max": [], "mean": []}
        for layer in probed_layers(model.config):
            for kind, pool in (("sum", sum), ("max", max), ("mean", lambda values: sum(values) / len(values))):
                kinds[kind].append(
                    [
                        [_mean([_pool(head[row], span, row, window, pool) for row in rows[at]]) for span in SPANS]
                        for head in maps[layer][0]
                    ]
                )
        found.append(Scores(*(torch.tensor(kinds[kind]) for kind in ("sum", "max", "mean"))))
        assert length == ids.shape[1] - pad
    return found


def _pool(weights: torch.Tensor, span: Span, row: int, window: int | None, pool: Any) -> float:
    tokens = [token for token in range(*span) if token <= row and (window is None or token > row - window)]
    return float(pool([float(weights[token]) for token in tokens])) if tokens else float("nan")


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def assert_close(found: Scores, wanted: list[Scores]) -> None:
    for at, scores in enumerate(wanted):
        for kind in ("sum", "max", "mean"):
            torch.testing.assert_close(
                getattr(found, kind)[at], getattr(scores, kind), atol=1e-5, rtol=1e-4, equal_nan=True
            )


@pytest.mark.parametrize("lengths", [LENGTHS[:1], LENGTHS], ids=["single", "left-padded"])
@pytest.mark.parametrize("name", CONFIGS)
def test_equals_eager_attention(name: str, lengths: Sequence[int]) -> None:
    """sdpa gives no attentions, heads share keys, windows hide keys, padding shifts them."""
    model = model_of(name)
    ids, mask, padding = batch_of(lengths)
    rows = [[length - 1] for length in lengths]
    watch = Watch(probed_layers(model.config), [SPANS] * len(lengths), rows, padding, ids.shape[1], stop=False)
    with torch.no_grad(), watching(model, watch):
        model(ids, attention_mask=mask if len(lengths) > 1 else None, position_ids=positions(mask))
    assert_close(watch.scores(), expected(name, rows, lengths))


@pytest.mark.parametrize("name", CONFIGS)
def test_equals_eager_attention_with_a_cache(name: str) -> None:
    """The context is read first, and the question's rows are looked from in a second pass."""
    model = model_of(name)
    ids, _, padding = batch_of(LENGTHS[:1])
    rows = [[20, 22, 23]]
    cache = DynamicCache(config=model.config)
    watch = Watch(probed_layers(model.config), [SPANS], rows, padding, 24, stop=False)
    with torch.no_grad():
        model(ids[:, :18], cache=cache, use_cache=True)
        with watching(model, watch):
            model(ids[:, 18:], cache=cache, use_cache=True)
    assert_close(watch.scores(), expected(name, rows, LENGTHS[:1]))


@pytest.mark.parametrize("name", CONFIGS)
def test_several_rows_in_a_left_padded_batch(name: str) -> None:
    model = model_of(name)
    ids, mask, padding = batch_of(LENGTHS)
    rows = [[23], [14, 16], [16, 18, 20], [23, 22]]
    watch = Watch(probed_layers(model.config), [SPANS] * 4, rows, padding, ids.shape[1], stop=False)
    with torch.no_grad(), watching(model, watch):
        model(ids, attention_mask=mask, position_ids=positions(mask))
    assert_close(watch.scores(), expected(name, rows, LENGTHS))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_right_padded_batch_is_looked_at_from_its_own_last_tokens(name: str) -> None:
    """The last column is padding, the row that counts is not."""
    model = model_of(name)
    left, _, padding = batch_of(LENGTHS)
    ids, mask = torch.zeros_like(left), torch.zeros_like(left)
    for row, (length, pad) in enumerate(zip(LENGTHS, padding, strict=True)):
        ids[row, :length], mask[row, :length] = left[row, pad:], 1
    rows = [[length - 1] for length in LENGTHS]
    watch = Watch(probed_layers(model.config), [SPANS] * 4, rows, [0] * 4, ids.shape[1], stop=False)
    with torch.no_grad(), watching(model, watch):
        model(ids, attention_mask=mask, position_ids=positions(mask))
    assert_close(watch.scores(), expected(name, rows, LENGTHS))


def test_a_passage_outside_the_window_is_not_visible() -> None:
    """Not seen is not a score of 0."""
    model = model_of("mistral")
    ids, _, padding = batch_of(LENGTHS[:1])
    watch = Watch([0, 1, 2], [SPANS], [[23]], padding, 24, stop=False)
    with torch.no_grad(), watching(model, watch):
        model(ids)
    hidden = watch.scores().sum.isnan().all(dim=(0, 1, 2))
    assert hidden.tolist() == [True, True, True, True]  # the window is tokens 16 to 23
    watch = Watch([0, 1, 2], [[(1, 4), (15, 18)]], [[23]], padding, 24, stop=False)
    with torch.no_grad(), watching(model, watch):
        model(ids)
    assert watch.scores().sum.isnan().all(dim=(0, 1, 2)).tolist() == [True, False]


def test_it_stops_after_the_last_watched_layer() -> None:
    model = model_of("llama")
    ids, _, padding = batch_of(LENGTHS[:1])
    ran = []
    model.model.layers[2].register_forward_pre_hook(lambda module, inputs: ran.append(2))
    watch = Watch([0, 1], [SPANS], [[23]], padding, 24, stop=True)
    with torch.no_grad(), watching(model, watch):
        model(ids)
    assert ran == []
    assert watch.scores().sum.shape == (1, 2, 4, 4)


def test_the_model_is_as_it_was() -> None:
    model = model_of("llama")
    ids, _, padding = batch_of(LENGTHS[:1])
    with torch.no_grad():
        before = model(ids).logits
        with watching(model, Watch([2], [SPANS], [[23]], padding, 24, stop=False)):
            during = model(ids).logits
        after = model(ids).logits
    assert torch.equal(before, during)
    assert torch.equal(before, after)
    assert model.config._attn_implementation == "sdpa"


def test_a_layer_that_never_ran_is_an_error() -> None:
    """An empty result is never taken for scores of 0."""
    with pytest.raises(RuntimeError, match="gave no attention"):
        Watch([0], [SPANS], [[3]], [0], 4, stop=False).scores()


def test_heads_that_cannot_share_keys_evenly_are_refused() -> None:
    """Which key head a query head reads."""
    watch = Watch([0], [[(0, 2)]], [[3]], [0], 4, stop=False)
    module = type("Module", (), {"layer_idx": 0})()
    with pytest.raises(SetupError, match="4 query heads cannot share 3 key heads"):
        watch.look(module, torch.zeros(1, 4, 4, 8), torch.zeros(1, 3, 4, 8), None, None)


def test_uniform_attention_favours_long_passages_in_sum_and_not_in_mean() -> None:
    """Long passages are not favoured."""
    watch = Watch([0], [[(0, 10), (10, 110)]], [[119]], [0], 120, stop=False)
    module = type("Module", (), {"layer_idx": 0})()
    watch.look(module, torch.zeros(1, 4, 120, 8), torch.zeros(1, 2, 120, 8), None, None)
    found = watch.scores()
    torch.testing.assert_close(found.sum[0, 0, 0], torch.tensor([10 / 120, 100 / 120]))
    torch.testing.assert_close(found.mean[0, 0, 0], torch.tensor([1 / 120, 1 / 120]))


def test_each_position_may_choose_its_own_passage() -> None:
    """Two heads look at both gold passages, each at another position: the union has both, the mean over rows one.

    By hand, for three passages of one token each and two rows: head 0 gives row 0 (.6 .3 .1) and row 1 (.2 .1 .7);
    head 1 gives (.1 .5 .4) and (.3 .3 .4), where the earlier of equal passages ranks first.
    """
    from eval_harness.probing.attention import UNRANKED, _pooled
    from eval_harness.probing.heads import top

    weights = torch.tensor([[[[0.6, 0.3, 0.1], [0.2, 0.1, 0.7]], [[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]]]])
    allowed, passages = torch.ones(1, 2, 3, dtype=torch.bool), torch.tensor([[0, 1, 2]])
    rows = torch.tensor([[True, True]])
    ranks = _pooled(weights, allowed, rows, passages, 3, each=True)
    assert ranks.sum.tolist() == ranks.max.tolist() == ranks.mean.tolist() == [[[0, 1, 0], [1, 0, 0]]]
    assert top(ranks.sum, 1).tolist() == [[[True, False, True], [False, True, True]]]
    mean = _pooled(weights, allowed, rows, passages, 3, each=False).sum
    assert top(mean, 1).tolist() == [[[True, False, False], [False, True, False]]]
    first = _pooled(weights, allowed, torch.tensor([[True, False]]), passages, 3, each=True)  # the second is filling
    assert first.sum.tolist() == [[[0, 1, 2], [2, 0, 1]]]
    allowed[:, 0, 0] = False  # row 0 does not see passage 0, and nobody passage 1
    allowed[:, :, 1] = False
    seen = _pooled(weights.masked_fill(~allowed[:, None], 0), allowed, rows, passages, 3, each=True)
    assert seen.sum.tolist() == [[[1, UNRANKED, 0], [1, UNRANKED, 0]]]
    assert top(seen.sum, 3).tolist() == [[[True, False, True], [True, False, True]]]
