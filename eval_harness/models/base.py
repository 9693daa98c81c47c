"""What the harness asks of a model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from eval_harness.models.tokenised import Tokenised

if TYPE_CHECKING:
    from eval_harness.models.template import Template

MARKS = ("<RETRIEVAL>", "</RETRIEVAL>")  # what stands around a retrieval (paper, section 4.1)


class Generation(NamedTuple):
    """A model's output for one prompt; `truncated` says that it reached the limit before a stop token.

    `n_prompt_tokens` counts the template's tokens too, `n_new_tokens` leaves the stop token out. `n_cached_tokens` of
    the prompt were not computed for it, since they were already there.
    """

    text: str
    n_prompt_tokens: int
    n_new_tokens: int
    truncated: bool
    n_cached_tokens: int = 0


class GenerationError(Exception):
    """A prompt that the model could not answer, for example for lack of memory."""


class Unasked(GenerationError):
    """A prompt that was not answered because no prompt can be any more, for want of quota for instance."""


class Model(Protocol):
    """A model that answers prompts greedily, each as if it were alone."""

    name: str

    @property
    def max_positions(self) -> int:
        """Its limit on prompt and output together, in tokens."""
        ...

    def count(self, prompt: str) -> int:
        """Tokens of the prompt as it is sent, template and special tokens included."""
        ...

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """One generation per prompt, in order; GenerationError if the batch fails."""
        ...

    def describe(self) -> dict[str, Any]:
        """Everything about the model that its outputs depend on, for the record of a run."""
        ...


@runtime_checkable
class Tokenises(Protocol):
    """A model whose tokens are made here, and can be handed back to it with the text."""

    def tokenised(self, prompt: str) -> Tokenised:
        """A prompt with its tokens."""
        ...


@runtime_checkable
class AnswersEach(Protocol):
    """A model whose prompts fail one by one, and whose answers do not depend on what else is in a batch."""

    def generate_each(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation | GenerationError]:
        """The generation for each prompt, in order, or why it has none."""
        ...


@runtime_checkable
class InFolder(Protocol):
    """A model whose files lie in a folder."""

    folder: Path


class Prefix(Protocol):
    """The beginning that some prompts share, read by the model once."""

    @property
    def n_tokens(self) -> int:
        """Its tokens."""
        ...


@runtime_checkable
class SharesPrefix(Protocol):
    """A model that can read what prompts begin with once, and answer each of them from there."""

    def prefill(self, prompts: Sequence[str]) -> Prefix | None:
        """The longest beginning that the prompts share, None where there is none or it cannot be kept.

        GenerationError if it fails.
        """
        ...

    def generate_after(self, prefix: Any, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """As `generate`, for prompts that begin with `prefix`, which is left as it was."""
        ...


@runtime_checkable
class Attends(Protocol):
    """A model on this machine whose heads can be watched and whose output can be steered token by token.

    `network` is the model of the library, `stops` are the ids that end an output.
    """

    name: str
    max_positions: int
    network: Any
    tokenizer: Any
    template: "Template"
    stops: list[int]

    def guarded(self, compute: Callable[[], Any], size: str) -> Any:
        """What `compute` returns; GenerationError, which names `size`, if memory runs out."""
        ...

    def encode(self, prompt: str) -> list[int]:
        """Token ids of the prompt as it is sent."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of an output."""
        ...

    def describe(self) -> dict[str, Any]:
        """What the model is."""
        ...
