"""Checks that prompts fit the model: lm-eval would truncate them from the left, the instruction first."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from builders.errors import SetupError

_LOG = logging.getLogger(__name__)


def check_room(prompts: Sequence[str], new_tokens: int, settings: Mapping[str, Any]) -> None:
    """Raises SetupError if a prompt with its template and `new_tokens` exceeds the model's context length.

    `settings` are lm-eval's model arguments: `pretrained` with `tokenizer`, `revision` and `max_length`. Models
    without `pretrained`, such as those behind an endpoint, and models whose tokenizer needs remote code are not
    checked; the log says so.
    """
    model = settings.get("pretrained")
    if not isinstance(model, str):
        return
    revision = str(settings.get("revision", "main"))
    try:
        limit = int(settings.get("max_length") or _positions(model, revision))
        tokenizer = _tokenizer(str(settings.get("tokenizer") or model), revision)
    except (OSError, ValueError) as error:
        _LOG.warning("not checked whether prompts fit %s: %s", model, str(error).strip().splitlines()[0])
        return
    for prompt in sorted(prompts, key=len, reverse=True):  # the longest first, to fail at once
        if (length := _length(tokenizer, prompt) + new_tokens) > limit:
            raise SetupError(
                f"a prompt needs {length:,} tokens with {new_tokens} for the answer, and {model} takes {limit:,}; "
                "choose a shorter config or a model with a longer context"
            )


def _length(tokenizer: Any, prompt: str) -> int:
    """Tokens of a prompt, in the chat template if the model has one."""
    if not tokenizer.chat_template:
        return len(tokenizer(prompt, verbose=False).input_ids)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
    )
    return len(tokenizer(text, add_special_tokens=False, verbose=False).input_ids)


@lru_cache(maxsize=2)
def _tokenizer(name: str, revision: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name, revision=revision)


@lru_cache(maxsize=2)
def _positions(name: str, revision: str) -> int:
    """The smaller of the model's positions and its tokenizer's limit, which is about 1e30 if unset."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(name, revision=revision).get_text_config()
    positions = getattr(config, "max_position_embeddings", None)
    return min(limit for limit in (positions, int(_tokenizer(name, revision).model_max_length)) if limit)
