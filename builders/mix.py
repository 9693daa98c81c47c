"""Mixes gold, retrieved and random passages into contexts of a given length and confounding ratio (section 3.1).

All contexts of a question are prefixes of the same two streams, so a shorter one is a subset of a longer one at the
same ratio, and every ratio has the same gold.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from builders.config import tokens_of
from builders.prompts import block, frame, render
from builders.schema import Passage
from builders.seeds import order_key
from builders.tasks import TaskSpec
from builders.tokens import TokenCounter, token_counter

SLACK = 16  # error of an estimate, in tokens, up to which the next passage is counted exactly


class Context(NamedTuple):
    """A finished context: its passages in their final order, the prompt's tokens, and its flags."""

    items: list[Passage]
    n_tokens: int
    ratio: float  # share of confounders among the non-gold passages
    flags: list[str]


def interleave(retrieved: Sequence[Passage], random: Sequence[Passage], percent: int) -> list[Passage]:
    """The order in which non-gold passages enter a context of this ratio, until a required stream runs out.

    At every step the share of retrieved passages stays nearest to `percent`; a tie takes the retrieved one.
    """
    taken: list[Passage] = []
    confounders = 0
    while True:
        n = len(taken) + 1
        wanted = (2 * percent * n + 100) // 200  # percent of n, halves rounded up
        stream, at = (retrieved, confounders) if wanted > confounders else (random, n - 1 - confounders)
        if at >= len(stream):
            return taken
        taken.append(stream[at])
        confounders += wanted > confounders


class Mixer:
    """Fits contexts into token budgets, counted on the final text."""

    def __init__(self, counter: TokenCounter, seed: str) -> None:
        self._counter, self._seed = counter, seed
        self._block = lru_cache(200_000)(lambda title, text: counter.count(block(1, title, text)))
        self._number = lru_cache(None)(lambda n: counter.count(str(n)))

    def context(
        self,
        task: TaskSpec,
        queries: Sequence[str],
        name: str,
        gold: Sequence[Passage],
        stream: Sequence[Passage],
        budget: int,
    ) -> tuple[list[Passage], list[int]] | None:
        """The gold and the longest prefix of `stream` within `budget`, ordered, and each query's prompt tokens.

        `name` keys the order. Where queries share the context, the longest decides. None where gold is too long.
        """
        longest = max(queries, key=lambda query: (self._counter.count(query), query))
        n, tokens = self._fit(task, longest, name, gold, stream, budget)
        if n is None:
            return None
        items = self.ordered(name, [*gold, *stream[:n]])
        return items, [tokens if query == longest else self.count(task, query, items) for query in queries]

    def ordered(self, name: str, items: Sequence[Passage]) -> list[Passage]:
        """Passages by a hash of (seed, name, pid): a passage keeps its relative order in every variant."""
        return sorted(items, key=lambda item: order_key(self._seed, name, item.pid))

    def count(self, task: TaskSpec, query: str, items: Sequence[Passage]) -> int:
        """Tokens of the whole rendered prompt."""
        return self._counter.count(render(task, query, [(item.title, item.text) for item in items]).text)

    def block_tokens(self, item: Passage) -> int:
        """Tokens of one passage's block, numbered 1."""
        return self._block(item.title, item.text)

    def _fit(
        self, task: TaskSpec, query: str, name: str, gold: Sequence[Passage], stream: Sequence[Passage], budget: int
    ) -> tuple[int | None, int]:
        estimates = self._estimates(task, query, gold, stream)
        n = sum(estimate <= budget for estimate in estimates[1:])

        def exact(n: int) -> int:
            return self.count(task, query, self.ordered(name, [*gold, *stream[:n]]))

        tokens = exact(n)
        while tokens > budget and n > 0:
            n -= 1
            tokens = exact(n)
        if tokens > budget:
            return None, tokens
        while n < len(stream) and tokens + estimates[n + 1] - estimates[n] <= budget + SLACK:
            more = exact(n + 1)
            if more > budget:
                break
            n, tokens = n + 1, more
        return n, tokens

    def _estimates(self, task: TaskSpec, query: str, gold: Sequence[Passage], stream: Sequence[Passage]) -> list[int]:
        """Estimated tokens with the first 0, 1, 2, ... passages of the stream: blocks counted one by one."""
        total = self._counter.count(frame(task, query))
        estimates = []
        for number, item in enumerate([*gold, *stream], start=1):
            if number > len(gold):
                estimates.append(total)
            total += self.block_tokens(item) + self._number(number) - self._number(1)
        return [*estimates, total]


@lru_cache(1)
def mixer_of(tokenizer: str, seed: str) -> Mixer:
    """This process's mixer, which caches token counts of passages across shards."""
    return Mixer(token_counter(tokenizer), seed)


def capped(stream: Sequence[Passage], gold: Sequence[Passage], most: int | None) -> Sequence[Passage]:
    """The part of a stream that a context of at most `most` passages has room for beside its gold."""
    return stream if most is None else stream[: max(0, most - len(gold))]


def finish(
    items: Sequence[Passage], n_tokens: int, budget: int, length: str, ran_out: bool, most: int | None = None
) -> Context:
    """A context with its achieved ratio and flags.

    `short_pool`: a stream ran out before the budget did; `underfull`: under 0.9 of the budget (0.75 below 2k, where
    one passage is a large step). A context of `most` passages has neither: it is as long as it may be.
    """
    others = [item for item in items if item.role != "gold"]
    ratio = sum(item.role == "confounder" for item in others) / len(others) if others else 0.0
    enough = 0.75 if tokens_of(length) < 2048 else 0.9
    flags = ["short_pool"] * ran_out + ["underfull"] * (n_tokens < enough * budget)
    return Context(list(items), n_tokens, ratio, [] if most and len(items) >= most else flags)
