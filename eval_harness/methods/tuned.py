"""Answers of models tuned on a variant of section 4.1: direct answer, retrieve then answer, cite context ids."""

from collections.abc import Sequence
from typing import Any, ClassVar

from builders.errors import SetupError
from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.methods.base import Answer, Given, Method, Name, Need, Question, Setting
from eval_harness.methods.rap import GRAMMAR, rap_setting
from eval_harness.methods.timing import Steps
from eval_harness.methods.variants import Variant
from eval_harness.models.base import Attends, GenerationError, Model
from eval_harness.models.checkpoint import RETRIEVING, check_variant
from eval_harness.models.prefix import can_share
from eval_harness.models.session import Session
from eval_harness.models.steps import RETRIEVAL_TOKENS, blocked, generation, marks_of, retrieval
from eval_harness.parsing.answers import Parsed, citations, parse
from eval_harness.parsing.retrievals import cited, copied, parts
from eval_harness.probing.spans import Span, token_spans

CITATION_TOKENS = 128  # of cited numbers, about 25 of them
ROOM: dict[Variant, int] = {"da": 0, "rta": RETRIEVAL_TOKENS, "cci": CITATION_TOKENS}  # of a retrieval, at most


class Tuned(Method):
    """Table 8's prompt, answered as the variant was learned; what the model retrieves on the way is evidence."""

    needs: ClassVar[tuple[Need, ...]] = ("tuning",)
    learned: ClassVar[Variant]

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.name = f"sft_{variant}"
        self.keeps = variant in RETRIEVING
        self.retrieves = ROOM[variant]

    @classmethod
    def named(cls, name: Name, given: Given) -> Setting:
        """The variant over the full context, with what the name adds to it."""
        if name.get("rap"):
            return rap_setting(name, given, Tuned(cls.learned))
        return Setting(name.text, cls.condition, Blocked(cls.learned) if name.get("blocks") else Tuned(cls.learned))

    def check(self, model: Model) -> None:
        """Raises SetupError unless the model was tuned on the variant."""
        check_variant(model, self.variant, self.name)

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The model's outputs, with the passages that they retrieve."""
        prompts = [self.asked(question).text for question in questions]
        outputs = session.generate(prompts, questions[0].max_new_tokens)
        return [
            output if isinstance(output, GenerationError) else Answer(output, self.retrieved(question, output.text))
            for question, output in zip(questions, outputs, strict=True)
        ]

    def read(self, task: TaskSpec, output: str) -> Parsed:
        """The answer in an output, after its retrieval; an output that broke off in it has none."""
        if not self.keeps:
            return parse(task, output)
        answering = parts(output).answering
        return Parsed(None, 0, truncated=True) if answering is None else parse(task, answering)

    def retrieved(self, question: Question, output: str) -> list[str] | None:
        """The pids of the passages that an output retrieves, None where the variant retrieves none."""
        if not self.keeps:
            return None
        found = parts(output).retrieval
        if self.variant == "rta":
            return copied(question.passages, found)
        return list(dict.fromkeys(cited(question.passages, citations(found))))


class Blocked(Tuned):
    """The answer is written where attention reaches the retrieval and no longer the context (section 6.2).

    Copies stand in the output, so all passages of the prompt are hidden; cited ones do not, and stay.
    """

    needs = ("tuning", "attention")

    def __init__(self, variant: Variant) -> None:
        super().__init__(variant)
        self.name += "+block_context"

    def check(self, model: Model) -> None:
        """Raises SetupError unless the model was tuned with marks and keeps what it read of every token."""
        training = check_variant(model, self.variant, self.name)
        if not isinstance(model, Attends):
            raise SetupError(f"{model.name} gives no access to what it read, so {self.name} cannot be used with it")
        if not training.marks:
            raise SetupError(f"{model.name} was tuned without marks, so {self.name} cannot tell where to hide from")
        marks_of(model)
        if not can_share(model.network):
            raise SetupError(
                f"{model.name} has windows or states of its own, so part of its context cannot be hidden; "
                f"use sft_{self.variant}"
            )

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """The model's outputs, one after another."""
        return [self._answer(session, question) for question in questions]

    def _answer(self, session: Session, question: Question) -> Answer | GenerationError:
        model = session.model
        if not isinstance(model, Attends):
            raise TypeError(f"{model.name} gives no access to what it read, and was not checked")
        prompt = self.asked(question)
        steps = Steps()
        prefix: Any = session.prefix()
        try:
            written = retrieval(model, prompt.text, prefix, question.max_new_tokens)
            steps.done("retrieval")
            output = list(written.output)
            if output[-1:] == [marks_of(model)[1]]:
                hidden = self._hidden(model, question, prompt, output)
                output += blocked(model, written, hidden, question.max_new_tokens - len(output))
            steps.done("answer")
        except GenerationError as error:
            return error
        found = generation(model, len(written.prompt), output, prefix.n_tokens if prefix else 0)
        return Answer(found, self.retrieved(question, found.text), steps.seconds)

    def _hidden(self, model: Attends, question: Question, prompt: Prompt, output: Sequence[int]) -> list[Span]:
        """The tokens of the passages that are hidden."""
        shown = self.retrieved(question, model.decode(output)) if self.variant == "cci" else None
        spans = token_spans(model.template.places(prompt.text), prompt.spans)
        pairs = zip(question.passages, spans, strict=True)
        return [span for passage, span in pairs if passage.pid not in (shown or ())]


class SftDa(Tuned):
    """Direct answer."""

    says = "answers as a model tuned to answer directly"
    form = "[+rap[@QxM]]"
    grammar = rf"(?P<blocks>(?!))?(?P<rap>\+rap{GRAMMAR})?"
    learned = "da"


class SftRta(Tuned):
    """Retrieve, then answer."""

    says = "answers as a model tuned to copy gold passages first"
    form = "[+block_context | +rap[@QxM]]"
    grammar = rf"(?P<blocks>\+block_context)?|(?P<rap>\+rap{GRAMMAR})"
    learned = "rta"


class SftCci(Tuned):
    """Cite context ids, then answer."""

    says = "answers as a model tuned to cite gold passages first"
    form = SftRta.form
    grammar = SftRta.grammar
    learned = "cci"
