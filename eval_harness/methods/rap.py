"""Retrieval attention probing: answers from the passages that the retrieval heads look at (paper, formula 5)."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from builders.errors import SetupError
from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Answer, Given, Method, Name, Question, Setting
from eval_harness.methods.direct import Direct
from eval_harness.methods.probed import Choice
from eval_harness.methods.timing import Steps
from eval_harness.models.base import Attends, GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.models.steps import marks_of, retrieval
from eval_harness.parsing.answers import Parsed
from eval_harness.probing.heads import Setting as HeadSetting
from eval_harness.probing.heads import check_model, preset, union
from eval_harness.probing.probe import scores_of

DIRECT = Direct()
GRAMMAR = r"(?:@(?P<q>[1-9][0-9]*)x(?P<m>[1-9][0-9]*))?"


class Rap(Method):
    """Reads the context up to the highest head chosen, keeps what the heads look at, and asks again with that alone.

    `asking` is how it asks, first and last. Heads that were probed while the model wrote its retrieval look from there.
    """

    says = "answers from the passages that Q heads look at most, M each"
    form = "[@QxM]"
    grammar = GRAMMAR
    needs = ("heads", "attention")
    keeps = True

    def __init__(self, choice: Choice, asking: Method = DIRECT) -> None:
        self.choice = choice
        self._asking = asking
        self.cites, self.retrieves = asking.cites, asking.retrieves
        # answers to one prompt differ with the heads, and so must the names under which they are kept
        settings = " ".join(f"{task or '*'}:{q}x{m}" for task, (q, m) in sorted(choice.settings.items()))
        self.name = f"{'' if asking is DIRECT else f'{asking.name}+'}rap {settings}{' pooled' * choice.pooled}"

    @classmethod
    def named(cls, name: Name, given: Given) -> Setting:
        """Direct answers from what the heads look at."""
        return rap_setting(name, given, DIRECT)

    def prompt(self, instance: Instance, passages: Sequence[Passage]) -> Prompt:
        """The prompt over all passages, which the heads look at."""
        return self._asking.prompt(instance, passages)

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        """Each answer from the passages chosen for its question; the answers are written in a batch."""
        chosen = [self._chosen(session, question) for question in questions]
        asked = [one.question for one in chosen if not isinstance(one, GenerationError)]
        began = time.perf_counter()
        found = iter(self._asking.answer(Session(session.model), asked) if asked else ())
        seconds = (time.perf_counter() - began) / max(1, len(asked))
        return [one if isinstance(one, GenerationError) else _with_choice(next(found), one, seconds) for one in chosen]

    def check(self, model: Model) -> None:
        """Raises SetupError unless the model shows its attention, is the one that was probed, and may be asked so."""
        super().check(model)
        self._asking.check(model)
        check_model(self.choice.heads, model.describe())
        if self._looks_from_retrieval and isinstance(model, Attends):
            marks_of(model)

    def read(self, task: TaskSpec, output: str) -> Parsed:
        """The answer in an output."""
        return self._asking.read(task, output)

    @property
    def _looks_from_retrieval(self) -> bool:
        return self.choice.variant.position == "retrieval"

    def _chosen(self, session: Session, question: Question) -> "_Chosen | GenerationError":
        """The question over the passages that the heads of its task look at."""
        model = session.model
        if not isinstance(model, Attends):
            raise TypeError(f"{model.name} shows no attention, and was not checked")
        instance = question.instance._replace(passages=list(question.passages))
        setting = self.choice.setting(instance.task)
        heads = self.choice.chosen(instance.task)
        layers = sorted({head.layer for head in heads})
        steps, written, prompt = Steps(), None, self.asked(question)
        prefix: Any = session.prefix()
        try:
            if self._looks_from_retrieval:
                written = retrieval(model, prompt.text, prefix)
                steps.done("retrieval")
            scores = scores_of(model, instance, [self.choice.variant], layers, True, prefix, written, prompt)
            steps.done("probe")
        except GenerationError as error:
            return error
        chosen = union(scores[self.choice.variant], layers, heads, setting.m)
        kept = [instance.passages[at] for at in chosen]
        steps.done("filter")
        return _Chosen(Question(instance, kept, question.max_new_tokens), steps.seconds)


def rap_setting(name: Name, given: Given, asking: Method) -> Setting:
    """Retrieval attention probing over the full context, with the Q and M of a name or else of a preset or a sweep."""
    probed = given.heads(name.text)
    if name.get("q"):
        chosen = {"": HeadSetting(name.number("q"), name.number("m"))}
    elif not probed.preset and probed.heads.sweep and probed.pooled:
        raise SetupError("the heads were swept task by task; with --pooled write rap@QxM, such as rap@4x1")
    else:
        chosen = (not probed.preset and probed.heads.tuned()) or preset(probed.preset)
    choice = Choice(probed.heads, chosen, probed.max_layer, probed.pooled)
    choice.check()
    return Setting(name.text, Rap.condition, Rap(choice, asking))


class _Chosen(NamedTuple):
    """A question over the passages that were chosen for it, and the seconds of each step until then."""

    question: Question
    steps: dict[str, float]


def _with_choice(found: Answer | GenerationError, chosen: _Chosen, seconds: float) -> Answer | GenerationError:
    """The answer with what was chosen as its evidence; what it retrieves from that itself goes to the log."""
    if isinstance(found, GenerationError):
        return found
    log = None if found.kept is None else [{"retrieved": found.kept}]
    steps = {**chosen.steps, "answer": round(seconds, 4)}
    return Answer(found.generation, [passage.pid for passage in chosen.question.passages], steps, log)
