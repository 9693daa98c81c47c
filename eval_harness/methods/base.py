"""What a method is: how its name is read, how an instance is asked, how it is answered, and how the output is read."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from builders.errors import SetupError
from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.conditions.base import CONDITIONS, Condition
from eval_harness.conditions.ranking import Ranker, Retrieval
from eval_harness.data.dataset import Instance, Passage, prompt_over
from eval_harness.methods.probed import Probed
from eval_harness.models.base import Attends, Generation, GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.parsing.answers import Parsed, parse

Need = Literal["heads", "attention", "tuning", "head"]
NEEDS: Mapping[Need, str] = {
    "heads": "--heads",
    "attention": "a local model",
    "tuning": "a checkpoint of icr2 train sft",
    "head": "a checkpoint of icr2 train head",
}


class Question(NamedTuple):
    """An instance, what it is shown, how many tokens may answer it, and its first prompt where that was made before."""

    instance: Instance
    passages: Sequence[Passage]
    max_new_tokens: int
    prompt: Prompt | None = None


class Answer(NamedTuple):
    """The last output of a method, and the pids of the passages that it answered from where it chose among them.

    `steps_s`: seconds of each step by name, where there are several. `steps_log`: what each step did, in plain values.
    """

    generation: Generation
    kept: list[str] | None = None
    steps_s: dict[str, float] | None = None
    steps_log: list[dict[str, Any]] | None = None


class Name(NamedTuple):
    """The name of a method as a user writes it: what METHODS knows it by, and the parameters after that."""

    text: str
    base: str
    parameters: Mapping[str, str | None]

    def get(self, parameter: str) -> str:
        """A parameter, empty where the name does not give it."""
        return self.parameters[parameter] or ""

    def number(self, parameter: str, default: int = 0) -> int:
        """A parameter that is a number."""
        return int(self.get(parameter) or default)


class Given(NamedTuple):
    """What a user gives to methods beside their names: what ranks passages, and heads that a probe found."""

    retrieval: Retrieval
    probed: Probed | None = None

    def heads(self, name: str) -> Probed:
        """The heads; SetupError where none were given."""
        if self.probed is None:
            raise SetupError(f"{name} needs heads that retrieve: give --heads FILE, made with: icr2 probe")
        return self.probed


class Method:
    """A method may ask once or in steps; its first prompt says whether an instance fits and what prompts share.

    `says` and `form`, which follows its name, are for help texts, and `grammar` is the form as a regular expression,
    whose groups are the parameters. `needs`: what it cannot do without. `name` stands for all that its answers to a
    prompt depend on. `keeps`: whether it chooses passages and names them in its answers; `cites`: whether it asks for
    evidence; `retrieves`: how many tokens of retrieval may precede an answer.
    """

    says: ClassVar[str]
    form: ClassVar[str] = ""
    grammar: ClassVar[str] = ""
    needs: ClassVar[tuple[Need, ...]] = ()
    condition: ClassVar[Condition] = CONDITIONS["vanilla_rag"]
    name: str = ""
    keeps: bool = False
    cites: bool = False
    retrieves: int = 0

    @classmethod
    def named(cls, name: Name, given: Given) -> "Setting":
        """What a name stands for."""
        method = cls()
        method.name = method.name or name.base
        return Setting(name.text, cls.condition, method)

    def check(self, model: Model) -> None:
        """Raises SetupError for a model that the method cannot be used with."""
        if "attention" in self.needs and not isinstance(model, Attends):
            name = self.name.split()[0]
            raise SetupError(f"{model.name} shows no attention, so {name} cannot be used with it; use a local model")

    def prompt(self, instance: Instance, passages: Sequence[Passage]) -> Prompt:
        """The first prompt for the instance's query over the passages."""
        return prompt_over(instance, passages, self.cites)

    def asked(self, question: Question) -> Prompt:
        """The first prompt of a question, which is made once."""
        return question.prompt or self.prompt(question.instance, question.passages)

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The answer to each question of a batch with one limit of tokens, in order, or why it has none."""
        outputs = session.generate([self.asked(one).text for one in questions], questions[0].max_new_tokens)
        return [output if isinstance(output, GenerationError) else Answer(output) for output in outputs]

    def read(self, task: TaskSpec, output: str) -> Parsed:
        """The answer in an output, and the passages cited where they were asked for."""
        return parse(task, output, self.cites)

    @classmethod
    def parameters(cls, rest: str) -> dict[str, str | None] | None:
        """What stands after the name, read by the grammar; None where it is not of that form."""
        found = re.fullmatch(cls.grammar, rest)
        return found.groupdict() if found else None


class Setting(NamedTuple):
    """A condition and the method used under it, by the name that a user gave them."""

    name: str
    condition: Condition
    method: Method

    @property
    def cites(self) -> bool:
        """Whether evidence is asked for."""
        return self.method.cites

    @property
    def retrieves(self) -> int:
        """How many tokens of retrieval may precede an answer."""
        return self.method.retrieves

    @property
    def ranker(self) -> Ranker | None:
        """What ranks the passages that are shown, None where none does."""
        return self.condition.ranker

    @property
    def names_evidence(self) -> bool:
        """Whether every answer under it comes with passages that it rests on."""
        return self.cites or self.condition.selects or self.method.keeps

    def shown(self, instance: Instance) -> list[Passage] | None:
        """The passages that the condition shows, None where it cannot be met."""
        return self.condition.show(instance)

    def prompt(self, instance: Instance) -> str | None:
        """The text of the prompt for an instance, or None where the condition cannot be met."""
        passages = self.shown(instance)
        return None if passages is None else self.method.prompt(instance, passages).text
