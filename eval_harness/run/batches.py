"""Batches of requests, grouped by shared prompt prefixes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eval_harness.run.plan import Plan
from eval_harness.run.requests import Request


class Group(NamedTuple):
    """Batches that run one after another; `shares` if their prompts have the same passages."""

    batches: list[list[Request]]
    shares: bool = False

    @property
    def requests(self) -> list[Request]:
        """All requests, in the order in which they run."""
        return [request for batch in self.batches for request in batch]


def batches(waiting: Sequence[Request], plan: Plan) -> Iterator[list[Request]]:
    """Batches of one method, one output limit and similar lengths, longest first."""
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
    """All requests in groups, longest first: one group per shared context, and one per remaining batch.

    Groups depend on the plan alone, not on how much of it is done, so a resumed run computes the same outputs.
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
    """Whether the batch has space for one more prompt, no longer than those in it."""
    if plan.max_batch_tokens is None:
        return len(batch) < plan.batch_size
    return (len(batch) + 1) * batch[0].cost <= plan.max_batch_tokens
