"""Attention of a few query rows over all keys, computed beside sdpa: no attention matrix is ever stored.

A function registered with transformers runs sdpa as always and, for the layers that are watched, multiplies the few
query rows with all keys once more. What it keeps are scores of passages, so its memory does not grow with the prompt.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.errors import SetupError
from eval_harness.probing.spans import Span

if TYPE_CHECKING:
    import torch

NAME = "icr2_probe"
UNRANKED = 2**31 - 1


class Scores(NamedTuple):
    """What passages got of a head's attention, each [sequences, layers, query heads, passages] in float32.

    `sum` is the mass on all tokens of a passage (the paper's alpha), `max` that of its highest token, `mean` the mass
    per token. Of several query positions it is the mean. NaN where no token of the passage is visible to the head,
    because of a sliding window, or where a sequence has fewer passages than another. Where each query position chooses
    for itself, each is instead the best rank that a passage has at any position, int32 from 0, UNRANKED where none
    sees it.
    """

    sum: "torch.Tensor"
    max: "torch.Tensor"
    mean: "torch.Tensor"


class Stopped(Exception):
    """The last watched layer is done."""


class Watch:
    """What is watched in one forward pass over left-padded sequences, and what was seen.

    `spans[i]` are the tokens of each passage of sequence i, and `rows[i]` the query tokens to look from, both counted
    without padding from the sequence's first token; rows must lie in the tokens of this pass. With `each`, what is
    kept are the ranks of passages, the best over the rows, instead of mean scores.
    """

    def __init__(
        self,
        layers: Sequence[int],
        spans: Sequence[Sequence[Span]],
        rows: Sequence[Sequence[int]],
        padding: Sequence[int],
        length: int,
        stop: bool,
        each: bool = False,
    ) -> None:
        self.layers = list(layers)
        self._spans, self._rows, self._padding = spans, rows, padding
        self._length = length  # of the longest sequence, padding and earlier tokens included
        self._stop, self._each = stop, each
        self._seen: dict[int, Scores] = {}

    def scores(self) -> Scores:
        """The scores of all watched layers, in their order; RuntimeError where a layer never ran."""
        import torch

        if missing := [layer for layer in self.layers if layer not in self._seen]:
            raise RuntimeError(f"layers {missing} gave no attention; the model does not use the registered function")
        found = [self._seen[layer] for layer in self.layers]
        return Scores(*(torch.stack(kind, dim=1) for kind in zip(*found, strict=True)))

    def look(self, module: Any, query: Any, key: Any, mask: Any, scaling: float | None) -> None:
        """Scores the passages for one layer: `query` [n, heads, tokens, size], `key` [n, key heads, keys, size]."""
        if module.layer_idx not in self.layers:
            return
        first = self._length - query.shape[2]  # place of this pass's first token
        rows, valid = self._query_rows(first, query.device)
        allowed = self._allowed(rows, first, mask, key.shape[2])
        weights = _weights(query, key, rows, allowed, scaling)
        self._seen[module.layer_idx] = _pooled(weights, allowed, valid, *self._passages(key), self._each)
        if self._stop and module.layer_idx == max(self.layers):
            raise Stopped

    def _query_rows(self, first: int, device: Any) -> tuple[Any, Any]:
        """Places of the query rows among this pass's tokens, filled to the longest list, and which are no filling."""
        import torch

        most = max(map(len, self._rows))
        places = [[row + pad - first for row in rows] for rows, pad in zip(self._rows, self._padding, strict=True)]
        filled = [[*at, *[at[0]] * (most - len(at))] for at in places]
        valid = [[True] * len(at) + [False] * (most - len(at)) for at in places]
        return torch.tensor(filled, device=device), torch.tensor(valid, device=device)

    def _allowed(self, rows: Any, first: int, mask: Any, n_keys: int) -> Any:
        """Which keys each query row may see, [sequences, rows, keys]."""
        import torch

        if mask is None:
            keys = torch.arange(self._length - n_keys, self._length, device=rows.device)
            return keys <= (rows + first)[:, :, None]
        chosen = mask[:, 0].expand(len(rows), -1, -1)[..., :n_keys]
        chosen = chosen.gather(1, rows[:, :, None].expand(-1, -1, n_keys))
        return chosen if chosen.dtype == torch.bool else chosen > torch.finfo(chosen.dtype).min / 2

    def _passages(self, key: Any) -> tuple[Any, int]:
        """The passage of each key, [sequences, keys], and how many there are; that number where a key is in none."""
        import torch

        most = max(map(len, self._spans))
        passages = torch.full((len(self._spans), self._length), most, dtype=torch.long)
        for at, (spans, pad) in enumerate(zip(self._spans, self._padding, strict=True)):
            for number, (start, end) in enumerate(spans):
                passages[at, pad + start : pad + end] = number
        here = passages[:, self._length - key.shape[2] :]  # a window's cache holds the last keys alone
        return here.to(key.device), most


def _weights(query: Any, key: Any, rows: Any, allowed: Any, scaling: float | None) -> Any:
    """Attention of the query rows, [sequences, heads, rows, keys]; query head h reads key head h // group."""
    import torch

    n, heads, _, size = query.shape
    groups, rest = divmod(heads, key.shape[1])
    if rest:
        raise SetupError(
            f"{heads} query heads cannot share {key.shape[1]} key heads evenly; this model cannot be probed"
        )
    chosen = query.gather(2, rows[:, None, :, None].expand(-1, heads, -1, size))
    chosen = chosen.reshape(n, key.shape[1], groups * rows.shape[1], size)
    logits = torch.matmul(chosen, key.transpose(2, 3)).float() * (size**-0.5 if scaling is None else scaling)
    logits = logits.reshape(n, heads, rows.shape[1], key.shape[2])
    return logits.masked_fill(~allowed[:, None], float("-inf")).softmax(dim=-1)


def _pooled(weights: Any, allowed: Any, valid: Any, passages: Any, number: int, each: bool) -> Scores:
    """Scores of passages, [sequences, heads, passages]: means over the valid rows, or with `each` the best ranks."""
    import torch

    n, heads, rows, _ = weights.shape
    shape = (n, heads, rows, number + 1)  # the last is what stands in no passage
    index = passages[:, None, None].expand_as(weights)
    mass = torch.zeros(shape, device=weights.device).scatter_add_(3, index, weights)
    highest = torch.zeros(shape, device=weights.device).scatter_reduce_(3, index, weights, "amax")
    seen = torch.zeros((n, rows, number + 1), device=weights.device)
    seen = seen.scatter_add_(2, passages[:, None].expand_as(allowed), allowed.float())[:, None]
    hidden = seen == 0
    share = (valid.float() / valid.sum(dim=1, keepdim=True))[:, None, :, None]

    def over_rows(kind: Any) -> Any:
        if each:
            return _best_ranks(kind[..., :number], (hidden | ~valid[:, None, :, None])[..., :number])
        return (kind.masked_fill(hidden, float("nan")) * share).sum(dim=2)[..., :number]

    return Scores(over_rows(mass), over_rows(highest), over_rows(mass / seen.clamp(min=1)))


def _best_ranks(scores: Any, hidden: Any) -> Any:
    """The best rank of each passage over rows, [sequences, heads, passages], for scores [..., rows, passages].

    The earlier of equal passages comes first.
    """
    import torch

    order = scores.masked_fill(hidden, float("-inf")).argsort(dim=-1, descending=True, stable=True)
    places = torch.arange(scores.shape[-1], device=scores.device, dtype=torch.int32).expand_as(order)
    ranks = torch.empty_like(places).scatter_(-1, order, places)
    return ranks.masked_fill(hidden, UNRANKED).amin(dim=2)


_watching: list[Watch] = []


def _attend(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> Any:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if _watching:
        _watching[-1].look(module, query, key, attention_mask, options.get("scaling"))
    return sdpa_attention_forward(module, query, key, value, attention_mask, **options)


def register() -> None:
    """Makes NAME known to transformers as an implementation of attention, masked as sdpa is."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)


@contextmanager
def watching(model: Any, watch: Watch) -> Iterator[Watch]:
    """Watches the passes that `model` makes inside; one that the watch stops ends quietly."""
    register()
    before = model.config._attn_implementation
    model.set_attn_implementation(NAME)
    _watching.append(watch)
    try:
        yield watch
    except Stopped:
        pass
    finally:
        _watching.pop()
        model.set_attn_implementation(before)


def check_watched(network: Any) -> None:
    """Raises SetupError for a network whose attention is not sdpa's: what it caps or adds would be missing."""
    if not network._supports_sdpa:
        raise SetupError("the attention of this model has caps or sinks that sdpa lacks, so it cannot be probed")


def probed_layers(config: Any) -> list[int]:
    """The layers whose heads can retrieve: those of full attention; all where every layer has the same window."""
    text = config.get_text_config()
    kinds = getattr(text, "layer_types", None) or ["full_attention"] * text.num_hidden_layers
    full = [layer for layer, kind in enumerate(kinds) if kind == "full_attention"]
    if full:
        return full
    if set(kinds) == {"sliding_attention"}:
        return list(range(len(kinds)))
    raise SetupError(f"the layers of this model are {', '.join(sorted(set(kinds)))}; none has attention to probe")
