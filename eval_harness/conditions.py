"""What of an instance's context a model is shown; a condition that an instance cannot meet gives None."""

from collections.abc import Callable

from eval_harness.load import Instance, Passage

Condition = Callable[[Instance], list[Passage] | None]


def closed_book(instance: Instance) -> list[Passage] | None:
    """No passages: what the model knows by itself."""
    return []


def vanilla(instance: Instance) -> list[Passage] | None:
    """The full context; None where there is none, since the prompt would be the closed-book one."""
    return instance.passages or None


def oracle(instance: Instance) -> list[Passage] | None:
    """The gold passages alone, in their order in the context; None where the instance has no gold."""
    return [instance.passages[position] for position in sorted(instance.gold)] or None


CONDITIONS: dict[str, Condition] = {"closed_book": closed_book, "vanilla": vanilla, "oracle": oracle}
