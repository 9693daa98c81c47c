"""Encodes an instance for training: prompt tokens without loss, then the target and its end with loss."""

from bisect import bisect_left
from functools import partial
from typing import Any, Literal, NamedTuple

from builders.seeds import order_key
from eval_harness.data.dataset import Instance, Passage, prompt_over
from eval_harness.methods.variants import Segment, Variant, answer_of, segments
from eval_harness.models.base import MARKS
from eval_harness.models.stops import end_of_output
from eval_harness.models.template import Template

Reason = Literal["no_answer", "no_gold", "over_long"]


class Encoded(NamedTuple):
    """Token ids of prompt, target and end; the first `n_prompt` have no loss.

    `n_removed` passages were dropped from the context to fit.
    """

    id: str
    task: str
    ids: list[int]
    n_prompt: int
    n_removed: int = 0


class Encoder:
    """Encodes instances for a variant in at most `limit` tokens; gold and answer are never truncated.

    To fit, passages that are not gold are dropped from the context in a seeded order; instances that are still
    too long are skipped. With `marks`, the tokenizer must have the special tokens (`add_marks`).
    """

    def __init__(
        self, tokenizer: Any, name: str, variant: Variant, limit: int, *, marks: bool = True, seed: str = "0"
    ) -> None:
        self.template = Template(tokenizer, name)
        self.end = end_of_output(tokenizer, name)
        self._tokenizer = tokenizer
        self._variant = variant
        self._limit = limit
        self._marks = marks
        self._seed = seed

    def encode(self, instance: Instance) -> Encoded | Reason:
        """The encoded instance, or the reason why it is skipped."""
        if answer_of(instance) is None:
            return "no_answer"
        if not instance.gold:
            return "no_gold"
        found = self._without(instance, 0)
        if not self._fits(found):
            most = len(self._spare(instance))
            # The fewest passages to drop; all if even that does not fit.
            n = bisect_left(range(most), True, key=lambda n: self._fits(self._without(instance, n)))
            found = self._without(instance, n)
        return found if self._fits(found) else "over_long"

    def shown(self, instance: Instance, n_removed: int) -> list[Passage]:
        """The context's passages after dropping so many."""
        removed = set(self._spare(instance)[:n_removed])
        return [passage for passage in instance.passages if passage.pid not in removed]

    def _spare(self, instance: Instance) -> list[str]:
        """The passages that may be dropped, in the order of dropping."""
        gold = set(instance.gold_pids)
        spare = [passage.pid for passage in instance.passages if passage.pid not in gold]
        return sorted(spare, key=partial(order_key, self._seed, "shorten", instance.id))

    def _fits(self, found: Encoded) -> bool:
        return len(found.ids) <= self._limit

    def _without(self, instance: Instance, n_removed: int) -> Encoded:
        """The instance after dropping so many passages, the others renumbered."""
        passages = self.shown(instance, n_removed)
        prompt = self.template.encode(prompt_over(instance, passages).text)
        target = [
            token
            for segment in segments(instance, passages, self._variant, self._marks)
            for token in self._ids(segment)
        ]
        ids = [*prompt, *target, self.end]
        return Encoded(instance.id, instance.task, ids, len(prompt), n_removed)

    def _ids(self, segment: Segment) -> list[int]:
        if segment.is_mark:
            return [self._tokenizer.convert_tokens_to_ids(segment.text)]
        options = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
        ids: list[int] = self._tokenizer(segment.text, **options).input_ids
        return ids


def add_marks(tokenizer: Any) -> list[int]:
    """Adds the special tokens of a retrieval to a tokenizer; returns the new ids."""
    from transformers import AddedToken

    known = tokenizer.get_vocab()
    new = [mark for mark in MARKS if mark not in known]
    tokenizer.add_tokens([AddedToken(mark, special=True, normalized=False) for mark in new], special_tokens=True)
    ids: list[int] = tokenizer.convert_tokens_to_ids(new)
    return ids
