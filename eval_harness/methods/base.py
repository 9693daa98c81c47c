"""What a method is: how an instance is asked, how it is answered, and how the output is read."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance, Passage
from eval_harness.models.base import Generation, GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.parsing.answers import Parsed


class Question(NamedTuple):
    """An instance, what it is shown, and how many tokens may answer it."""

    instance: Instance
    passages: Sequence[Passage]
    max_new_tokens: int


class Answer(NamedTuple):
    """The last output of a method, and the pids of the passages that it answered from where it chose among them.

    `steps_s`: seconds of each step by name, where there are several. `steps_log`: what each step did, in plain values.
    """

    generation: Generation
    kept: list[str] | None = None
    steps_s: dict[str, float] | None = None
    steps_log: list[dict[str, Any]] | None = None


class Method(Protocol):
    """A method may ask once or in steps; its first prompt says whether an instance fits and what prompts share.

    `keeps`: whether it chooses passages and names them in its answers.
    """

    name: str
    keeps: bool

    def prompt(self, instance: Instance, passages: Sequence[Passage]) -> Prompt:
        """The first prompt for the instance's query over the passages."""
        ...

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The answer to each question of a batch with one limit of tokens, in order, or why it has none."""
        ...

    def read(self, task: TaskSpec, output: str) -> Parsed:
        """The answer in an output."""
        ...


@runtime_checkable
class Checks(Protocol):
    """A method that is not for every model."""

    def check(self, model: Model) -> None:
        """Raises SetupError for a model that the method cannot be used with."""
        ...
