"""Keys and values of a beginning that prompts share: computed once, copied for each batch, never changed in place."""

from collections.abc import Sequence
from inspect import signature
from typing import Any


def shared_length(encoded: Sequence[list[int]]) -> int:
    """How many tokens all lists begin with alike."""
    first, last = min(encoded), max(encoded)  # in lexical order, so that what these two share all share
    return next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))


def can_share(model: Any) -> bool:
    """Whether each layer keeps the keys and values of all positions and nothing else.

    Sliding windows count the padding between a shared beginning and the rest, and recurrent states read it.
    """
    from transformers.cache_utils import DynamicCache, DynamicLayer

    if "cache" not in signature(model.base_model.forward).parameters:
        return False
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


def prefilled(model: Any, ids: list[int]) -> Any:
    """The cache of a model that has read `ids`; None where a layer keeps nothing of its own."""
    import torch
    from transformers.cache_utils import DynamicCache

    cache: Any = DynamicCache(config=model.config)
    model.base_model(input_ids=torch.tensor([ids], device=model.device), cache=cache, use_cache=True)
    return cache if all(layer.get_seq_length() == len(ids) for layer in cache.layers) else None


def spread(model: Any, cache: Any, n: int) -> Any:
    """A copy of a cache of one sequence for `n` sequences."""
    from transformers.cache_utils import DynamicCache

    copy = DynamicCache(config=model.config)
    for at, layer in enumerate(cache.layers):
        copy.update(layer.keys.expand(n, -1, -1, -1), layer.values.expand(n, -1, -1, -1), at)  # concatenates: a copy
    return copy
