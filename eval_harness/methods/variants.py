"""What a model is trained to write: the answer alone, or a retrieval and then the answer (paper, figure 3)."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from builders.prompts import block
from eval_harness.data.dataset import Instance, Passage
from eval_harness.models.base import MARKS

Variant = Literal["da", "rta", "cci"]  # direct answer, retrieve then answer, cite context ids

VARIANTS: tuple[Variant, ...] = get_args(Variant)
CUE = "Answer:"  # of the answer, where no mark says that the retrieval is over


class Segment(NamedTuple):
    """A stretch of a target; `is_mark` tells a mark, which is one token, from passages that happen to spell one."""

    text: str
    is_mark: bool = False


def target(instance: Instance, passages: Sequence[Passage], variant: Variant, marks: bool = True) -> str:
    """What a variant writes for an instance that is shown passages; without `marks`, a cue comes before the answer.

    The retrieval holds the gold passages among those shown, in their order: `rta` copies their blocks from the prompt,
    `cci` gives their numbers in it. ValueError where the instance has no answer to learn.
    """
    return "".join(segment.text for segment in segments(instance, passages, variant, marks))


def segments(instance: Instance, passages: Sequence[Passage], variant: Variant, marks: bool = True) -> list[Segment]:
    """The target in stretches, for a tokenizer that reads marks as tokens and the rest as plain text."""
    answer = answer_of(instance)
    if answer is None:
        raise ValueError(f"{instance.id} has no answer to learn")
    if variant == "da":
        return [Segment(answer)]
    retrieval = _retrieval(instance, passages, variant)
    if not marks:
        return [Segment(f"{retrieval}\n{CUE} {answer}")]
    opens, closes = (Segment(mark, is_mark=True) for mark in MARKS)
    return [opens, Segment(retrieval), closes, Segment(f"\n{answer}")]


def answer_of(instance: Instance) -> str | None:
    """The canonical answer as the prompt asks for it, None where there is none; an alias is never learned."""
    usable = instance.spec.usable(instance.answers[:1])
    if not usable:
        return None
    return instance.spec.labels.get(usable[0]) or usable[0].strip()


def _retrieval(instance: Instance, passages: Sequence[Passage], variant: Variant) -> str:
    gold = set(instance.gold_pids)
    found = [(number, passage) for number, passage in enumerate(passages, start=1) if passage.pid in gold]
    if variant == "cci":
        return "".join(f"[{number}]" for number, _ in found)
    return "".join(block(number, passage.title, passage.text) for number, passage in found)
