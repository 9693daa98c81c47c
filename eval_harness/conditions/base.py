"""Conditions: the passages of an instance's context that a model is shown; None if an instance cannot meet one.

Passages keep their order in the context.
"""

from collections.abc import Callable
from typing import NamedTuple

from eval_harness.conditions.ranking import Ranker, Retrieval
from eval_harness.data.dataset import Instance, Passage

Show = Callable[[Instance], list[Passage] | None]


class Condition(NamedTuple):
    """A condition's name and the passages it shows; `selects` if a retriever chose them, so that they are scored.

    `ranker` is the ranker used.
    """

    name: str
    show: Show
    selects: bool = False
    ranker: Ranker | None = None


def closed_book(instance: Instance) -> list[Passage] | None:
    """No passages: the model answers from its own knowledge."""
    return []


def vanilla(instance: Instance) -> list[Passage] | None:
    """The full context; None without one, since the prompt would equal that of closed_book."""
    return instance.passages or None


def oracle(instance: Instance) -> list[Passage] | None:
    """The gold passages; None if the instance has none."""
    return [instance.passages[position] for position in sorted(instance.gold)] or None


def retrieved(retrieval: Retrieval, ranker: Ranker, k: int) -> Show:
    """The k best passages of the context for the query, or all if there are fewer; None without a context."""

    def show(instance: Instance) -> list[Passage] | None:
        if not instance.passages:
            return None
        best = retrieval.ranked(ranker, instance.query, instance.passages)[:k]
        return [instance.passages[position] for position in sorted(best)]

    return show


def retrieved_condition(retrieval: Retrieval, ranker: Ranker, k: int) -> Condition:
    """The condition that shows a ranker's k best passages."""
    return Condition(f"retrieved_{ranker}@{k}", retrieved(retrieval, ranker, k), selects=True, ranker=ranker)


CONDITIONS = {
    "closed_book": Condition("closed_book", closed_book),
    "vanilla_rag": Condition("vanilla", vanilla),
    "oracle_rag": Condition("oracle", oracle),
}
