"""How many tokens an output may have: the one place that says so, for runs, sweeps, training and lm-eval."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from builders.tasks import KINDS, KindName, TaskSpec
from eval_harness.models.steps import RETRIEVAL_TOKENS

EVIDENCE_TOKENS = 32  # more, where evidence is asked for
ANSWER_TOKENS: Mapping[KindName, int] = {name: kind.max_new_tokens for name, kind in KINDS.items()}


class Writes(Protocol):
    """A method and its condition, as far as the length of outputs depends on them."""

    @property
    def cites(self) -> bool:
        """Whether evidence is asked for."""
        ...

    @property
    def retrieves(self) -> int:
        """The most tokens of a retrieval before the answer."""
        ...


class Limits(NamedTuple):
    """The most tokens of an answer by kind of task, of evidence after it, and of a retrieval before it.

    With `least`, a prompt that leaves less than these limits gets what it leaves, down to the limits of `least`.
    """

    answers: Mapping[KindName, int] = ANSWER_TOKENS
    evidence: int = EVIDENCE_TOKENS
    retrieval: int = RETRIEVAL_TOKENS
    least: "Limits | None" = None

    def of(self, writes: Writes, task: TaskSpec, room: int) -> int:
        """The tokens that an output may have after a prompt which leaves `room`.

        A retrieval has as many as its method allows and as fit; a prompt that leaves it fewer than evidence has does
        not fit.
        """
        if self.least is not None:
            return max(self.least.of(writes, task, 0), min(room, self._replace(least=None).of(writes, task, room)))
        answer = self.answers[task.kind] + (self.evidence if writes.cites else 0)
        most = min(writes.retrieves, self.retrieval)
        return answer + max(min(most, room - answer), min(most, self.evidence))


LIMITS = Limits()
PAPER_TOKENS = 1024  # of every output (appendix C.2 of the ICR² paper)


def fixed(n: int) -> Limits:
    """The limits of a user who wants `n` tokens for every output, evidence and retrieval included."""
    return Limits(dict.fromkeys(KINDS, n), 0, 0)


def as_in_the_paper() -> Limits:
    """The paper's limit, less where a prompt leaves less room, so that it makes no prompt overlength."""
    return fixed(PAPER_TOKENS)._replace(least=LIMITS)
