"""What of an instance's context a model is shown; a condition that an instance cannot meet gives None.

Passages keep the order that they have in the context.
"""

from collections.abc import Callable
from typing import NamedTuple

from eval_harness.conditions.ranking import Ranker, Retrieval
from eval_harness.data.dataset import Instance, Passage

Show = Callable[[Instance], list[Passage] | None]


class Condition(NamedTuple):
    """A condition's name and what it shows; `selects` where a retriever chose it, so that it can be scored.

    `ranker` is what of ours ranked it.
    """

    name: str
    show: Show
    selects: bool = False
    ranker: Ranker | None = None


def closed_book(instance: Instance) -> list[Passage] | None:
    """No passages: what the model knows by itself."""
    return []


def vanilla(instance: Instance) -> list[Passage] | None:
    """The full context; None where there is none, since the prompt would be the closed-book one."""
    return instance.passages or None


def oracle(instance: Instance) -> list[Passage] | None:
    """The gold passages alone; None where the instance has no gold."""
    return [instance.passages[position] for position in sorted(instance.gold)] or None


def retrieved(retrieval: Retrieval, ranker: Ranker, k: int) -> Show:
    """The k best passages of the context for the query, all where there are fewer; None where there is no context."""

    def show(instance: Instance) -> list[Passage] | None:
        if not instance.passages:
            return None
        best = retrieval.ranked(ranker, instance.query, instance.passages)[:k]
        return [instance.passages[position] for position in sorted(best)]

    return show


def retrieved_condition(retrieval: Retrieval, ranker: Ranker, k: int) -> Condition:
    """The condition that shows the k best passages by a ranker."""
    return Condition(f"retrieved_{ranker}@{k}", retrieved(retrieval, ranker, k), selects=True, ranker=ranker)


CONDITIONS = {
    "closed_book": Condition("closed_book", closed_book),
    "vanilla_rag": Condition("vanilla", vanilla),
    "oracle_rag": Condition("oracle", oracle),
}
