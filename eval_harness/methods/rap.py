"""Retrieval attention probing: answers from the passages that the retrieval heads look at (paper, formula 5)."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from builders.errors import SetupError
from builders.prompts import Prompt
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.direct import Direct
from eval_harness.methods.timing import Steps
from eval_harness.methods.tuned import Tuned
from eval_harness.models.base import Attends, GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.models.steps import marks_of, retrieval
from eval_harness.parsing.answers import Parsed
from eval_harness.probing.heads import Head, Heads, Setting, check_model, union
from eval_harness.probing.probe import Variant, scores_of

DIRECT = Direct()


@dataclass(frozen=True)
class Probed:
    """Heads that a probe found, the layer up to which they may be used, and the preset that `rap` alone stands for."""

    heads: Heads
    preset: str | None = None
    max_layer: int | None = None


@dataclass(frozen=True)
class Choice:
    """The heads that choose, and how: `settings` by task, with "" for every other task."""

    heads: Heads
    settings: Mapping[str, Setting]
    max_layer: int | None = None

    def setting(self, task: str) -> Setting:
        """How many heads and passages a task gets; SetupError where it has no setting."""
        found = self.settings.get(task, self.settings.get(""))
        if found is None:
            raise SetupError(f"the preset says no Q and M for the task {task}; write rap@QxM, such as rap@4x1")
        return found

    @property
    def variant(self) -> Variant:
        """The scores that the heads were probed with."""
        made = self.heads.made_from
        return Variant(made["position"], made["pooling"], made["calibrated"])

    def describe(self) -> dict[str, Any]:
        """What answers depend on, for the record of a run."""
        tasks = {
            task: {**setting._asdict(), "heads": [list(head) for head in self.chosen(setting)]}
            for task, setting in sorted(self.settings.items())
        }
        return {"tasks": tasks, "n": self.heads.n, "made_from": self.heads.made_from}

    def chosen(self, setting: Setting) -> list[Head]:
        """The heads of a setting."""
        return self.heads.best(setting.q, setting.m, self.max_layer)

    def check(self) -> None:
        """Raises SetupError where a setting asks for more than was probed."""
        for setting in self.settings.values():
            self.chosen(setting)


class Rap:
    """Reads the context up to the highest head chosen, keeps what the heads look at, and asks again with that alone.

    `asking` is how it asks, first and last. Heads that were probed while the model wrote its retrieval look from there.
    """

    keeps = True

    def __init__(self, choice: Choice, asking: Direct | Tuned = DIRECT) -> None:
        self.choice = choice
        self._asking = asking
        # answers to one prompt differ with the heads, and so must the names under which they are kept
        settings = " ".join(f"{task or '*'}:{q}x{m}" for task, (q, m) in sorted(choice.settings.items()))
        self.name = f"{'' if asking is DIRECT else f'{asking.name}+'}rap {settings}"

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
        if not isinstance(model, Attends):
            raise SetupError(f"{model.name} shows no attention, so rap cannot be used with it; use a local model")
        self._asking.check(model)
        check_model(self.choice.heads, model.describe())
        if self._looks_from_retrieval:
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
        heads = self.choice.chosen(setting)
        layers = sorted({head.layer for head in heads})
        steps, written = Steps(), None
        prefix: Any = session.prefix()
        try:
            if self._looks_from_retrieval:
                written = retrieval(model, self.prompt(instance, instance.passages).text, prefix)
                steps.done("retrieval")
            scores = scores_of(model, instance, [self.choice.variant], layers, True, prefix, written)
            steps.done("probe")
        except GenerationError as error:
            return error
        chosen = union(scores[self.choice.variant], layers, heads, setting.m)
        kept = [instance.passages[at] for at in chosen]
        steps.done("filter")
        return _Chosen(Question(instance, kept, question.max_new_tokens), steps.seconds)


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
