"""Checks that prompts fit the model: lm-eval would truncate them from the left, the instruction first."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from builders.errors import SetupError
from eval_harness.models.limits import limit_of

# What back ends of lm-eval call the limit of prompt and output: hf and API models, vLLM, SGLang, TensorRT-LLM, others.
_LIMITS = ("max_length", "max_model_len", "context_length", "max_seq_len", "max_context_len", "n_ctx", "max_seq_length")
_OF_PROMPTS = ("max_input_len",)  # of the prompt alone: TensorRT-LLM
_LOG = logging.getLogger(__name__)


def check_room(prompts: Sequence[str], new_tokens: int, settings: Mapping[str, Any]) -> None:
    """Raises SetupError if a prompt with its template and `new_tokens` exceeds the model's context length.

    `settings` are lm-eval's model arguments: the model or the tokenizer, its `revision`, and the limit by the name that
    a back end has for it. Models without a limit that can be read, such as those behind an endpoint, and models whose
    tokenizer needs remote code are not checked; the log says so.
    """
    model = settings.get("pretrained") or settings.get("model") or "the model"
    own = isinstance(settings.get("pretrained"), str)
    name = settings.get("tokenizer") or (model if own else None)
    asked = [int(settings[key]) for key in _LIMITS if str(settings.get(key) or "").isdecimal()]
    asked += [int(settings[key]) + new_tokens for key in _OF_PROMPTS if str(settings.get(key) or "").isdecimal()]
    if name is None or not (own or asked):
        _LOG.warning("not checked whether prompts fit %s: no tokenizer and context length are given", model)
        return
    revision = str(settings.get("revision", "main"))
    try:
        limit = min(asked) - (not own) if asked else _positions(str(model), revision)  # API models keep one token
        tokenizer = _tokenizer(str(name), revision)
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
    """The most tokens that the model takes."""
    from transformers import AutoConfig

    return limit_of(AutoConfig.from_pretrained(name, revision=revision), _tokenizer(name, revision)).tokens
