"""Direct answer: table 8's prompt over the passages, and the output read as the answer."""

from collections.abc import Sequence

from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance, Passage, prompt_over
from eval_harness.methods.base import Answer, Question
from eval_harness.models.base import GenerationError, Model
from eval_harness.models.checkpoint import check_answers_at_once
from eval_harness.models.session import Session
from eval_harness.parsing.answers import Parsed, parse


class Direct:
    """One prompt, one output; with `cites`, it asks for the numbers of the passages too."""

    keeps = False

    def __init__(self, cites: bool = False) -> None:
        self.name = "direct+cite" if cites else "direct"
        self._cites = cites

    def check(self, model: Model) -> None:
        """Raises SetupError for a model that was tuned to begin with something else."""
        check_answers_at_once(model)

    def prompt(self, instance: Instance, passages: Sequence[Passage]) -> Prompt:
        """The prompt for the instance's query over the passages."""
        return prompt_over(instance, passages, self._cites)

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The model's outputs."""
        prompts = [self.prompt(question.instance, question.passages).text for question in questions]
        found = session.generate(prompts, questions[0].max_new_tokens)
        return [one if isinstance(one, GenerationError) else Answer(one) for one in found]

    def read(self, task: TaskSpec, output: str) -> Parsed:
        """The answer in an output, and the passages cited."""
        return parse(task, output, self._cites)
