"""What a trained head and its model do with a prompt: score the passages, and answer from those chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.prompts import Prompt
from eval_harness.methods.head.places import places_of
from eval_harness.methods.head.scorer import scores_of
from eval_harness.models.base import Attends
from eval_harness.models.steps import greedy, selected
from eval_harness.probing.spans import Span

if TYPE_CHECKING:
    import torch


class Scored(NamedTuple):
    """A prompt that was read once: its tokens, its passages with their scores, and its keys and values."""

    ids: list[int]
    passages: list[Span]
    scores: "torch.Tensor"
    cache: Any


def scored(model: Attends, head: Any, prompt: Prompt, query: str) -> Scored:
    """Reads a prompt and scores its passages."""
    import torch
    from transformers.cache_utils import DynamicCache

    ids = model.encode(prompt.text)
    question, passages = places_of(model.template, prompt, query)

    def read() -> Scored:
        cache: Any = DynamicCache(config=model.network.config)
        row = torch.tensor([ids], device=model.network.device)
        states = model.network.base_model(input_ids=row, cache=cache, use_cache=True).last_hidden_state[0]
        return Scored(ids, passages, scores_of(head, states, question, passages), cache)

    found: Scored = model.guarded(read, f"{len(ids)} tokens")
    return found


def answer_from(model: Attends, read: Scored, chosen: Sequence[int], limit: int) -> list[int]:
    """At most `limit` tokens, written from some of the passages of a prompt that was read.

    What stands after the last passage is read again without the keys and values of those not chosen, at its own
    positions, which is what a mask would do.
    """
    start = read.passages[-1][1] if read.passages else 0
    hidden = [span for place, span in enumerate(read.passages) if place not in chosen]
    left_out = {at for first, end in hidden for at in range(first, end)}
    seen = [at for at in range(start) if at not in left_out]

    def write() -> list[int]:
        cache = selected(model.network, read.cache, seen)
        return greedy(model.network, read.ids[start:], start, cache, limit, model.stops)

    found: list[int] = model.guarded(write, f"{len(read.ids)} tokens")
    return found
