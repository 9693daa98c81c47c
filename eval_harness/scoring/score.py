"""From an output to its scores: read the answer, choose the answers that it can be scored against, score it, or 0."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from builders.tasks import TaskSpec
from eval_harness.parsing.answers import Parsed
from eval_harness.scoring.registry import scorer_of


class Asked(Protocol):
    """What an output answers: an instance, or as much of one as scoring needs."""

    @property
    def spec(self) -> TaskSpec:
        """Its task."""
        ...

    @property
    def answers(self) -> Sequence[str]:
        """Its answers, the canonical one first."""
        ...


class Wanted(NamedTuple):
    """A task and answers of it, where there is no instance at hand."""

    spec: TaskSpec
    answers: Sequence[str]


class Reads(Protocol):
    """A method, as far as scoring needs one."""

    def read(self, task: TaskSpec, output: str) -> Parsed:
        """The answer in an output."""
        ...


class Scored(NamedTuple):
    """An answer as it was read, and its scores: every one 0 where none could be read, none where nothing scores it."""

    parsed: Parsed
    scores: dict[str, float]

    @property
    def is_scorable(self) -> bool:
        """Whether there is an answer to score against."""
        return bool(self.scores)


def score_output(asked: Asked, method: Reads, output: str | None) -> Scored:
    """The scores of what a method wrote; None stands for a method that failed, which answers nothing."""
    parsed = Parsed(None, 0) if output is None else method.read(asked.spec, output)
    scorer, usable = scorer_of(asked.spec), asked.spec.usable(asked.answers)
    if not usable:
        return Scored(parsed, {})
    if parsed.answer is None:
        return Scored(parsed, dict.fromkeys(scorer.metrics, 0.0))
    return Scored(parsed, scorer.score(parsed.answer, usable))
