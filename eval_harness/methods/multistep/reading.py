"""How articles become a prompt that fits a model, and the method that answers from them in one step.

Articles are shown whole where they fit. Where they do not, each is cut after its first N passages, with the largest N
that fits. Where not even one passage of each does, a single step is overlength, and a multi-step one shows one passage
of as many as fit, in the order in which they were found.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance, Passage, prompt_over
from eval_harness.methods.base import Answer, Method, Question
from eval_harness.methods.limits import Limits
from eval_harness.models.base import GenerationError
from eval_harness.models.session import Session

Render = Callable[[Sequence[Passage]], Prompt]


class Room(NamedTuple):
    """What prompts must fit into: the model's count of tokens, its positions, and how long outputs may be."""

    count: Callable[[str], int]
    positions: int
    limits: Limits

    def prompt_tokens(self, task: TaskSpec) -> int:
        """Tokens that the prompt of an answer may have."""
        return self.positions - self.limits.answers[task.kind]


class Shown(NamedTuple):
    """A prompt with what it shows: `passages_each` is N, None where no article was cut."""

    prompt: Prompt
    n_articles: int
    n_cut: int
    n_left_out: int
    passages_each: int | None

    def describe(self) -> dict[str, Any]:
        """What it shows, in plain values."""
        return {name: value for name, value in self._asdict().items() if name != "prompt"}


def shown(render: Render, articles: Sequence[Passage], count: Callable[[str], int], room: int) -> Shown:
    """The prompt over as much of the articles as fits into `room` tokens, by the rule of this module."""

    def fits(found: Sequence[Passage]) -> bool:
        return count(render(found).text) <= room

    lengths = [len(article.text.split("\n")) for article in articles]
    longest = max(lengths, default=0)
    if fits(articles):
        return Shown(render(articles), len(articles), 0, 0, None)
    each = _largest(longest - 1, lambda n: fits(first_passages(articles, n)))
    if each:
        prompt = render(first_passages(articles, each))
        return Shown(prompt, len(articles), sum(n > each for n in lengths), 0, each)
    firsts = first_passages(articles, 1)
    kept = _largest(len(articles) - 1, lambda n: fits(firsts[:n]))
    cut = sum(n > 1 for n in lengths[:kept])
    return Shown(render(firsts[:kept]), kept, cut, len(articles) - kept, 1)


def first_passages(articles: Sequence[Passage], n: int) -> list[Passage]:
    """Each article cut after its first n passages."""
    return [article._replace(text="\n".join(article.text.split("\n")[:n])) for article in articles]


def _largest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` for which something holds that holds for all smaller ones, 0 where none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


class OneStep(Method):
    """One prompt over the articles of a condition, one output."""

    says = "answers from whole articles in one step"
    name = "one step"

    def __init__(self, room: Room) -> None:
        self._room = room

    def shown(self, instance: Instance, articles: Sequence[Passage]) -> Shown:
        """The prompt for an instance's question over articles, and what it shows of them."""
        room = self._room.prompt_tokens(instance.spec)
        return shown(lambda found: prompt_over(instance, found), articles, self._room.count, room)

    def prompt(self, instance: Instance, passages: Sequence[Passage]) -> Prompt:
        """The prompt; where an article had to be left out, the one over all of them, which does not fit."""
        found = self.shown(instance, passages)
        return prompt_over(instance, first_passages(passages, 1)) if found.n_left_out else found.prompt

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The model's outputs, with what was shown of the articles."""
        found = [self.shown(question.instance, question.passages) for question in questions]
        outputs = session.generate([one.prompt.text for one in found], questions[0].max_new_tokens)
        return [
            output if isinstance(output, GenerationError) else Answer(output, steps_log=[one.describe()])
            for one, output in zip(found, outputs, strict=True)
        ]
