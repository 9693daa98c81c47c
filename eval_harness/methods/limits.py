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
    """The most tokens of an answer by kind of task, of evidence after it, and of a retrieval before it."""

    answers: Mapping[KindName, int] = ANSWER_TOKENS
    evidence: int = EVIDENCE_TOKENS
    retrieval: int = RETRIEVAL_TOKENS

    def of(self, writes: Writes, task: TaskSpec, room: int) -> int:
        """The tokens that an output may have after a prompt which leaves `room`.

        A retrieval has as many as its method allows and as fit; a prompt that leaves it fewer than evidence has does
        not fit.
        """
        answer = self.answers[task.kind] + (self.evidence if writes.cites else 0)
        most = min(writes.retrieves, self.retrieval)
        return answer + max(min(most, room - answer), min(most, self.evidence))


LIMITS = Limits()


def fixed(n: int) -> Limits:
    """The limits of a user who wants `n` tokens for every output, evidence and retrieval included."""
    return Limits(dict.fromkeys(KINDS, n), 0, 0)
