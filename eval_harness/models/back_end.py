"""What a back end is, and how a user wants a model made ready."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from builders.device import DType
from eval_harness.models.base import Model
from eval_harness.models.thoughts import Marks

Attention = Literal["sdpa", "flash"]
LimitField = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True)
class ChatOptions:
    """How a server is asked.

    `base_url`: without one, OPENAI_BASE_URL or else OpenAI's. `max_positions`: the server's limit on prompt and output
    together, in tokens. `timeout_s`: of one try. `limit_field`: the request's name for the output limit. `fields`: more
    fields for each request; None takes out one of ours, which are temperature and seed, both 0.
    """

    base_url: str | None = None
    system: str | None = None
    max_positions: int | None = None
    concurrency: int = 4
    tries: int = 6
    timeout_s: float = 600
    limit_field: LimitField = "max_tokens"
    marks: Marks | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelOptions:
    """How a user wants a model made ready; each back end takes what concerns it.

    `tokenizer` counts the prompts of a remote model; `server` says how one is asked.
    """

    dtype: DType = "auto"
    attention: Attention = "sdpa"
    system: str | None = None
    tokenizer: str = "smollm2"
    server: ChatOptions = field(default_factory=ChatOptions)
    template_fields: Mapping[str, Any] = field(default_factory=dict)
    marks: Marks | None = None
    max_positions: int | None = None


class BackEnd(Protocol):
    """Where models come from; one class with one line in `eval_harness.models.BACK_ENDS`, or an entry point.

    `says` tells users what they name after its prefix. `remote`: the weights are not on this machine, so that prompts
    are counted with a named tokenizer and no prefix of them is shared.
    """

    says: str
    remote: bool

    def load(self, name: str, options: ModelOptions) -> Model:
        """The model `name`, ready to answer; SetupError if it cannot be loaded."""
        ...
