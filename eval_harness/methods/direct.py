"""Direct answer: table 8's prompt over the passages, and the output read as the answer."""

from collections.abc import Sequence

from builders.prompts import render
from eval_harness.load import Instance, Passage
from eval_harness.models.base import Generation, Model
from eval_harness.parse import Parsed, parse


def ask(instance: Instance, passages: Sequence[Passage]) -> str:
    """The prompt for the instance's query over `passages`."""
    return render(instance.task, instance.query, [(passage.title, passage.text) for passage in passages]).text


def answer(model: Model, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
    """The model's outputs, one per prompt."""
    return model.generate(prompts, max_new_tokens)


def read(task: str, output: str) -> Parsed:
    """The answer in an output."""
    return parse(task, output)
