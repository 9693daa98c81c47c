"""What `--method` names: a condition, and the method that answers under it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from builders.errors import SetupError
from eval_harness.conditions import CONDITIONS
from eval_harness.load import Instance, Passage
from eval_harness.methods import direct
from eval_harness.models.base import Generation, Model
from eval_harness.parse import Parsed


class Method(NamedTuple):
    """How a prompt is made of passages, how it is answered, and how the answer is read."""

    name: str
    ask: Callable[[Instance, Sequence[Passage]], str]
    answer: Callable[[Model, Sequence[str], int], list[Generation]]
    read: Callable[[str, str], Parsed]


class Setting(NamedTuple):
    """A condition's name and the method used under it."""

    condition: str
    method: Method

    def prompt(self, instance: Instance) -> str | None:
        """The prompt for an instance, or None where the condition cannot be met."""
        passages = CONDITIONS[self.condition](instance)
        return None if passages is None else self.method.ask(instance, passages)


DIRECT = Method("direct", direct.ask, direct.answer, direct.read)

METHODS: dict[str, Setting] = {
    "closed_book": Setting("closed_book", DIRECT),
    "vanilla_rag": Setting("vanilla", DIRECT),
    "oracle_rag": Setting("oracle", DIRECT),
}


def check_methods(names: Sequence[str]) -> None:
    """Raises SetupError unless every name is known."""
    if unknown := sorted(set(names) - set(METHODS)):
        raise SetupError(f"no method {', '.join(unknown)}; there are {', '.join(METHODS)}")
