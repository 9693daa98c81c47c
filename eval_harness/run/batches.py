"""Which requests a model answers together, and which of them begin alike."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eval_harness.run.plan import Plan
from eval_harness.run.requests import Request


class Group(NamedTuple):
    """Batches that are answered one after another; `shares` where their prompts are over the same passages."""

    batches: list[list[Request]]
    shares: bool = False

    @property
    def requests(self) -> list[Request]:
        """All requests, in the order in which they are answered."""
        return [request for batch in self.batches for request in batch]


def batches(waiting: Sequence[Request], plan: Plan) -> Iterator[list[Request]]:
    """Batches of one method and output limit and of similar lengths, the longest first."""
    batch: list[Request] = []
    order = sorted(waiting, key=lambda one: (-one.max_new_tokens, one.setting.method.name, -one.n_prompt_tokens))
    for request in order:
        if batch and not (_alike(batch[0], request) and _has_room(batch, plan)):
            yield batch
            batch = []
        batch.append(request)
    if batch:
        yield batch


def groups(asked: Sequence[Request], plan: Plan) -> list[Group]:
    """All requests in groups, the longest first: those over the same passages together, and each other batch alone.

    They depend on the plan alone, not on what of it is done, and so does what a model computes for each prompt.
    """
    by_context: dict[str | None, list[Request]] = {}
    for request in asked:
        by_context.setdefault(request.context_sha256 if plan.shares_prefixes else None, []).append(request)
    shared = [found for context, found in by_context.items() if context is not None and len(found) > 1]
    taken = {request.key for found in shared for request in found}
    alone = [request for request in asked if request.key not in taken]
    found = [Group([batch]) for batch in batches(alone, plan)]
    found += [Group(list(batches(requests, plan)), shares=True) for requests in shared]
    return sorted(found, key=lambda group: -max(request.cost for request in group.requests))


def _alike(one: Request, other: Request) -> bool:
    return (one.max_new_tokens, one.setting.method.name) == (other.max_new_tokens, other.setting.method.name)


def _has_room(batch: Sequence[Request], plan: Plan) -> bool:
    """Whether one more prompt, no longer than those of the batch, may join it."""
    if plan.max_batch_tokens is None:
        return len(batch) < plan.batch_size
    return (len(batch) + 1) * batch[0].cost <= plan.max_batch_tokens
