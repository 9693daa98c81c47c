"""What the harness asks of a model."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol


class Generation(NamedTuple):
    """A model's output for one prompt; `truncated` says that it reached the limit before a stop token.

    `n_prompt_tokens` counts the template's tokens too, `n_new_tokens` leaves the stop token out.
    """

    text: str
    n_prompt_tokens: int
    n_new_tokens: int
    truncated: bool


class GenerationError(Exception):
    """A prompt that the model could not answer, for want of memory for instance."""


class Model(Protocol):
    """A model that answers prompts greedily, each as if it were alone.

    `max_positions` bounds prompt and output together, in tokens.
    """

    name: str
    max_positions: int

    def count(self, prompt: str) -> int:
        """Tokens of the prompt as it is sent, template and special tokens included."""
        ...

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """One generation per prompt, in order; GenerationError where the batch fails."""
        ...

    def describe(self) -> dict[str, Any]:
        """Everything about the model that its outputs depend on, for the record of a run."""
        ...
