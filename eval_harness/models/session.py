"""A model while it answers prompts that begin alike."""

from collections.abc import Sequence
from contextlib import suppress

from eval_harness.models.base import AnswersEach, Generation, GenerationError, Model, Prefix, SharesPrefix


class Session:
    """Answers prompts one batch after another; what `sharing` begin with is read once, before the first of them.

    Without `sharing`, or with a model that cannot keep a prefix, each prompt is read whole.
    """

    def __init__(self, model: Model, sharing: Sequence[str] = ()) -> None:
        self.model = model
        self._sharing = sharing
        self._prefix: Prefix | None = None

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation | GenerationError]:
        """The generation for each prompt, in order, or why it has none; a batch that fails is tried one by one."""
        if isinstance(self.model, AnswersEach):
            return self.model.generate_each(prompts, max_new_tokens)
        try:
            return [*self._generated(prompts, max_new_tokens)]
        except GenerationError as error:
            if len(prompts) == 1:
                return [error]
            return [found for prompt in prompts for found in self.generate([prompt], max_new_tokens)]

    def prefix(self) -> Prefix | None:
        """What the prompts begin with, read by the model; None where nothing is shared or it cannot be held."""
        if self._sharing and isinstance(self.model, SharesPrefix):
            with suppress(GenerationError):
                self._prefix = self.model.prefill(self._sharing)
            self._sharing = ()
        return self._prefix

    def _generated(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        prefix = self.prefix()
        if prefix is not None and isinstance(self.model, SharesPrefix):
            return self.model.generate_after(prefix, prompts, max_new_tokens)
        return self.model.generate(prompts, max_new_tokens)
