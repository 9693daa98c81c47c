"""The retrieval head: scores the passages, and answers from the K highest of them (paper, section 4.3)."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from builders.errors import SetupError
from eval_harness.data.dataset import prompt_over
from eval_harness.methods.base import Answer, Given, Method, Name, Question, Setting
from eval_harness.methods.head.answering import answer_from, scored
from eval_harness.methods.head.files import VARIANT, read_head
from eval_harness.methods.head.top_k import top_k
from eval_harness.methods.timing import Steps
from eval_harness.models.base import Attends, GenerationError, InFolder, Model
from eval_harness.models.checkpoint import check_variant, training_of
from eval_harness.models.prefix import can_share
from eval_harness.models.session import Session
from eval_harness.models.steps import generation

if TYPE_CHECKING:
    import torch


@runtime_checkable
class _Local(Attends, InFolder, Protocol):
    """A model on this machine, whose folder may hold a head."""


class RetHead(Method):
    """Reads the prompt once, hides every passage but the K that the head scores highest, and answers.

    With `reprompt` the model is asked again with these passages alone, which are then read anew, instead of going on
    from the prompt that it has read.
    """

    says = "answers from the K passages that a trained head scores highest"
    form = "@K[+reprompt]"
    grammar = r"@(?P<k>[1-9][0-9]*)(?P<reprompts>\+reprompt)?"
    needs = ("head", "attention")
    keeps = True

    def __init__(self, k: int, reprompt: bool = False) -> None:
        self.name = f"rethead@{k}{'+reprompt' if reprompt else ''}"
        self._k = k
        self._reprompt = reprompt

    @classmethod
    def named(cls, name: Name, given: Given) -> Setting:
        """The head's choice over the full context."""
        return Setting(name.text, cls.condition, cls(name.number("k"), bool(name.get("reprompts"))))

    def check(self, model: Model) -> None:
        """Raises SetupError unless the model was trained with a head, and passages can be hidden from it."""
        if training_of(model) is None:
            raise SetupError(f"{model.name} has no head that retrieves; train one with: icr2 train head")
        check_variant(model, VARIANT, self.name)
        if not isinstance(model, _Local):
            raise SetupError(f"{model.name} gives no access to what it read, so {self.name} cannot be used with it")
        _head_of(model)
        if not (self._reprompt or can_share(model.network)):
            raise SetupError(
                f"{model.name} has windows or states of its own, so passages cannot be hidden from it; "
                f"use {self.name}+reprompt"
            )

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The answer to each question from the passages chosen for it."""
        return [self._answer(session, question) for question in questions]

    def _answer(self, session: Session, question: Question) -> Answer | GenerationError:
        model = session.model
        if not isinstance(model, _Local):
            raise TypeError(f"{model.name} gives no access to what it read, and was not checked")
        instance, passages, limit = question.instance, question.passages, question.max_new_tokens
        steps = Steps()
        try:
            read = scored(model, _head_of(model), self.asked(question), instance.query)
            chosen = top_k(read.scores, self._k)
            kept = [passages[place] for place in chosen]
            steps.done("retrieval")
            if self._reprompt:
                (found,) = session.model.generate([prompt_over(instance, kept).text], limit)
            else:
                found = generation(model, len(read.ids), answer_from(model, read, chosen, limit))
            steps.done("answer")
        except GenerationError as error:
            return error
        return Answer(found, [passage.pid for passage in kept], steps.seconds)


def _head_of(model: _Local) -> "torch.nn.ModuleDict":
    return _head(model.folder, str(model.network.device))


@lru_cache(maxsize=1)
def _head(folder: Path, device: str) -> "torch.nn.ModuleDict":
    """The head in a checkpoint, read once."""
    return read_head(folder).to(device)
