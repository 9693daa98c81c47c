"""What a chat server sent, read with distrust: any field may be missing, null or of another type."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeGuard

_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can hold half a pair, UTF-8 cannot
_LONGEST_MESSAGE = 300  # characters
_PASSING = {408, 409, 425, 429}  # and every 5xx
_STOPPING = {401, 402}  # no key, or no money: the next prompt would fare no better


End = Literal["whole", "truncated", "filtered", "broken"]
# Reasons for the end of an output that are not a stop, by the names that servers give them, without capitals: those of
# OpenAI, vLLM, SGLang, TGI, Anthropic, Gemini, Mistral, DeepSeek and Cohere.
_ENDS: dict[str, End] = {
    **dict.fromkeys(
        "length max_tokens max_output_tokens max_length model_length token_limit incomplete "
        "model_context_window_exceeded max_new_tokens context_length_exceeded".split(),
        "truncated",
    ),
    **dict.fromkeys(
        "content_filter content_filtered safety recitation blocklist prohibited_content spii image_safety language "
        "refusal error_toxic sensitive guardrail_intervened".split(),
        "filtered",
    ),
    **dict.fromkeys(
        "error abort aborted cancelled canceled timeout user_cancel insufficient_system_resource network_error "
        "error_limit malformed_function_call internal_error".split(),
        "broken",
    ),
}
_LENGTHS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_seq_len", "n_ctx")


class Reply(NamedTuple):
    """One chat completion; a count is None where the server gave none.

    `reasoning` is what the server keeps apart from the answer; `n_new_tokens` counts it too, and the stop token where
    the server does. `n_cached_tokens` of the prompt the server had read before.
    """

    text: str
    reasoning: str = ""
    truncated: bool = False
    model: str | None = None
    fingerprint: str | None = None
    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    n_reasoning_tokens: int | None = None
    n_cached_tokens: int | None = None


class Trouble(NamedTuple):
    """Why there is no completion, at any length, and what to do: ask again, give the prompt up, or ask nothing more."""

    message: str
    then: Literal["retry", "give up", "stop"]


def read(status: int, body: bytes) -> Reply | Trouble:
    """The completion that an HTTP answer holds, or what went wrong."""
    fields = _fields(body)
    if status // 100 != 2:
        return _trouble(status, fields, body)
    if fields.get("error"):  # some gateways send an error of the server behind them with status 200
        code = _inner(fields, "error").get("code")
        return _trouble(code if isinstance(code, int) and 400 <= code < 600 else 502, fields, body)
    choices = fields.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not _is_message(message):
        return Trouble(f"no chat completion: {_decoded(body)}", "retry")
    finish = choice.get("finish_reason")
    end = ended_by(finish)
    if end == "filtered":
        return Trouble(f"stopped by the server's content filter ({finish})", "give up")
    if end == "broken":
        return Trouble(f"broken off by the server: {choice.get('error', finish)}", "retry")
    return _reply(fields, message, truncated=end == "truncated")


def ended_by(finish: Any) -> End:
    """What a server's reason for the end of an output means; one that is not known, or none, means that it is whole."""
    return _ENDS.get(finish.strip().casefold().removeprefix("finish_reason_"), "whole") if _is_text(finish) else "whole"


def context_length(body: bytes, model: str) -> int | None:
    """The limit on prompt and output that a list of models names for one of them, or for the only one."""
    listed = _fields(body).get("data")
    models = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    mine = [one for one in models if one.get("id") == model] or (models if len(models) == 1 else [])
    named = (_count(fields.get(name)) for one in mine for fields in (one, _inner(one, "meta")) for name in _LENGTHS)
    return next(filter(None, named), None)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_message(found: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(found, dict) and isinstance(found.get("content"), str | list | None)


def _reply(fields: Mapping[str, Any], message: Mapping[str, Any], *, truncated: bool) -> Reply:
    usage = _inner(fields, "usage")
    return Reply(
        text=_text(message.get("content")) or _text(message.get("refusal")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        truncated=truncated,
        model=_text(fields.get("model")) or None,
        fingerprint=_text(fields.get("system_fingerprint")) or None,
        n_prompt_tokens=_count(usage.get("prompt_tokens")),
        n_new_tokens=_count(usage.get("completion_tokens")),
        n_reasoning_tokens=_count(_inner(usage, "completion_tokens_details").get("reasoning_tokens")),
        n_cached_tokens=_count(_inner(usage, "prompt_tokens_details").get("cached_tokens")),
    )


def _trouble(status: int, fields: Mapping[str, Any], body: bytes) -> Trouble:
    message = f"{status}: {_message(fields) or _decoded(body) or 'no message'}"
    error = _inner(fields, "error")
    if status in _STOPPING or "insufficient_quota" in (error.get("code"), error.get("type")):
        return Trouble(message, "stop")
    return Trouble(message, "retry" if status in _PASSING or status >= 500 else "give up")


def _message(fields: Mapping[str, Any]) -> str:
    """The server's own words, which stand in different places in different servers."""
    for value in (_inner(fields, "error").get("message"), *map(fields.get, ("error", "message", "detail"))):
        if value:
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ""


def _fields(body: bytes) -> dict[str, Any]:
    """The JSON object in the body; empty where it is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _inner(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = fields.get(key)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    """A text, or the texts of a list of parts, as some servers send it; empty for anything else."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _decoded(body: bytes) -> str:
    return body.decode(errors="replace")


def short(message: str) -> str:
    """A message on one line, cut after 300 characters."""
    line = " ".join(_SURROGATE.sub("\ufffd", message).split())
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 1]}…"
