"""Greedy tokens in steps: a retrieval up to its end, and the answer after it with part of the context hidden."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.errors import SetupError
from eval_harness.models.base import MARKS, Generation
from eval_harness.models.prefix import can_share, shared_length, spread

if TYPE_CHECKING:
    from eval_harness.models.base import Attends
    from eval_harness.models.hf import Prefilled

RETRIEVAL_TOKENS = 1024  # of a retrieval, at most (paper, appendix C.2)


class Written(NamedTuple):
    """A prompt's tokens, what a model wrote after it, the tokens between the marks, and keys and values of all but
    the last token. `inside` is counted from the prompt's first token, and is empty where no retrieval was written."""

    prompt: list[int]
    output: list[int]
    inside: tuple[int, int]
    cache: Any


def marks_of(model: "Attends") -> tuple[int, int]:
    """The ids of both marks; SetupError if they are not single tokens of the tokenizer."""
    vocabulary = model.tokenizer.get_vocab()
    opens, closes = (vocabulary.get(mark) for mark in MARKS)
    if opens is None or closes is None:
        raise SetupError(f"{model.name} was not tuned to retrieve first: its tokenizer has no tokens {' '.join(MARKS)}")
    return opens, closes


def retrieval(
    model: "Attends", prompt: str, prefix: "Prefilled | None" = None, most: int = RETRIEVAL_TOKENS
) -> Written:
    """What a model writes after a prompt, at most `most` tokens, up to the end of its retrieval or of its output."""
    opens, closes = marks_of(model)
    ids = model.encode(prompt)
    limit = min(most, model.max_positions - len(ids))
    stops = {*model.stops, closes}

    def write() -> tuple[list[int], Any]:
        cache, known = _begun(model, ids, prefix)
        return greedy(model.network, ids[known:], known, cache, limit, stops), cache

    output, cache = model.guarded(write, f"{len(ids)} tokens")
    start = output.index(opens) + 1 if opens in output else len(output)
    end = max(start, len(output) - (output[-1] in stops)) if output else start
    return Written(ids, output, (len(ids) + start, len(ids) + end), cache)


def blocked(model: "Attends", written: Written, hidden: Sequence[tuple[int, int]], limit: int) -> list[int]:
    """The tokens after a retrieval where attention reaches no token of `hidden` any more; positions stay as they are.

    What is hidden are half-open spans of prompt tokens. From the mark at the end of the retrieval on, keys and values
    of the hidden tokens are left out, which is what a mask would do (paper, section 6.2).
    SetupError for models that do not keep the keys and values of all positions.
    """
    if not can_share(model.network):
        raise SetupError(f"{model.name} has windows or states of its own, so part of its context cannot be hidden")
    whole = len(written.prompt) + len(written.output)
    kept = [at for at in range(whole - 1) if not any(start <= at < end for start, end in hidden)]

    def write() -> list[int]:
        cache = selected(model.network, written.cache, kept)
        return greedy(model.network, written.output[-1:], whole - 1, cache, limit, model.stops)

    found: list[int] = model.guarded(write, f"{whole} tokens")
    return found


def generation(model: "Attends", n_prompt_tokens: int, output: Sequence[int], n_cached_tokens: int = 0) -> Generation:
    """An output that was written token by token, its stop token left out."""
    ended = bool(output) and output[-1] in model.stops
    new = output[:-1] if ended else output
    return Generation(model.decode(new), n_prompt_tokens, len(new), not ended, n_cached_tokens)


def greedy(network: Any, ids: list[int], start: int, cache: Any, limit: int, stops: Collection[int]) -> list[int]:
    """At most `limit` greedy tokens after `ids`, up to and with the first of `stops`; `ids[0]` has position `start`.

    `cache` holds keys and values of what comes before, all or part of it, and is filled further.
    """
    import torch

    found: list[int] = []
    while len(found) < limit:
        positions = torch.arange(start, start + len(ids), device=network.device)[None]
        fed = torch.tensor([ids], device=network.device)
        logits = network(input_ids=fed, position_ids=positions, cache=cache, use_cache=True, logits_to_keep=1).logits
        start += len(ids)
        ids = [int(logits[0, -1].argmax())]
        found += ids
        if ids[0] in stops:
            break
    return found


def selected(network: Any, cache: Any, kept: Sequence[int]) -> Any:
    """A copy of a cache with the keys and values at some positions alone."""
    import torch
    from transformers.cache_utils import DynamicCache

    copy = DynamicCache(config=network.config)
    for at, layer in enumerate(cache.layers):
        index = torch.tensor(kept, dtype=torch.long, device=layer.keys.device)
        copy.update(layer.keys.index_select(2, index), layer.values.index_select(2, index), at)
    return copy


def _begun(model: "Attends", ids: list[int], prefix: "Prefilled | None") -> tuple[Any, int]:
    """A cache of what `ids` and a prefix begin with alike, and how many tokens that is."""
    from transformers.cache_utils import DynamicCache

    known = min(shared_length([prefix.ids, ids]), len(ids) - 1) if prefix else 0
    if not known or not prefix:
        return DynamicCache(config=model.network.config), 0
    cache = spread(model.network, prefix.cache, 1)
    if known < prefix.n_tokens:
        cache.crop(known - prefix.n_tokens)
    return cache, known
