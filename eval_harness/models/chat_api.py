"""Models behind an OpenAI-compatible chat endpoint."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from builders.errors import SetupError, shortened
from builders.tokens import TokenCounter, token_counter
from eval_harness.models.back_end import ChatOptions
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.chat_http import Endpoint
from eval_harness.models.chat_reply import Reply
from eval_harness.models.limits import UNKNOWN, Limit
from eval_harness.models.thoughts import named

_GREEDY: dict[str, Any] = {"temperature": 0, "seed": 0}
_OURS = {"model", "messages", "max_tokens", "max_completion_tokens", "n", "stream"}
_PROBE = "Reply with the word OK."
_PROBE_TOKENS = 256  # a reasoning model thinks even about this
_PROBE_TRIES = 3
_SERVERS_WORD = "/models of the server"


class ChatModel:
    """A model of a chat server, which puts its own template around each prompt.

    Prompts are counted with `counter`, template aside, so that their lengths are near the server's, not equal to them.
    """

    def __init__(self, name: str, counter: TokenCounter, endpoint: Endpoint, options: ChatOptions) -> None:
        if ours := _OURS & options.fields.keys():
            raise SetupError(f"the request field {', '.join(sorted(ours))} is set by the run itself; leave it out")
        self.name = name
        self._counter = counter
        self._endpoint = endpoint
        self._options = options
        self._decoding = {key: value for key, value in {**_GREEDY, **options.fields}.items() if value is not None}
        self._served = _Served()
        self._probe_reply: Reply | None = None
        self._limit: Limit | None = None

    @property
    def max_positions(self) -> int:
        """The most tokens of prompt and output together; asks the server once what it says."""
        return self._limited().tokens

    @property
    def limit_source(self) -> str:
        """What says so."""
        return self._limited().source

    @property
    def concurrency(self) -> int:
        """How many prompts are asked at a time; batches of several times as many keep the server busy."""
        return self._endpoint.concurrency

    def count(self, prompt: str) -> int:
        """Tokens of the system text and the prompt."""
        return self._counter.count(self._options.system or "") + self._counter.count(prompt)

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """One generation per prompt, in order; GenerationError if one of them fails, which loses the others."""
        generations = []
        for found in self.generate_each(prompts, max_new_tokens):
            if isinstance(found, GenerationError):
                raise found
            generations.append(found)
        return generations

    def generate_each(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation | GenerationError]:
        """The generation for each prompt, in order, or why it has none.

        SetupError if the server has refused all requests, for example for an invalid key.
        """
        replies = self._endpoint.ask([self._request(prompt, max_new_tokens) for prompt in prompts])
        return [
            self._generation(prompt, reply) if isinstance(reply, Reply) else reply
            for prompt, reply in zip(prompts, replies, strict=True)
        ]

    def describe(self) -> dict[str, Any]:
        """Name, host, the name that the server answers under, and the request; asks one short test prompt, once.

        SetupError if the server refuses it, so that a wrong address, key or field shows before a run.
        """
        said = self._limited()
        of_server = {"max_positions_from": said.source} if said.source == _SERVERS_WORD else {}
        return {
            "name": self.name,
            "host": self._endpoint.host,
            "served_model": self._probe().model,
            "system": self._options.system,
            "decoding": self._decoding,
            "limit_field": self._options.limit_field,
            "max_positions": said.tokens if of_server else self._options.max_positions,
            **of_server,
            **({"thinking_marks": self._options.marks} if self._options.marks else {}),
            "tokenizer": {
                "name": self._counter.name,
                "sha256": self._counter.sha256,
                "counts": "the text alone, without the server's template",
            },
        }

    def served(self) -> dict[str, Any]:
        """What this process has been served: models and fingerprints seen, replies, retries, and tokens by the server.

        A fingerprint may change from reply to reply, so it is no part of `describe`.
        """
        return {**self._served.as_dict(), "n_retries": self._endpoint.n_retries}

    def _request(self, prompt: str, max_new_tokens: int) -> dict[str, Any]:
        system = self._options.system
        turns = [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": prompt}]
        return {
            "model": self.name,
            "messages": turns,
            self._options.limit_field: max_new_tokens,
            **self._decoding,
        }

    def _generation(self, prompt: str, reply: Reply) -> Generation:
        self._served.add(reply)
        own = (reply.text, reply.reasoning)
        return Generation(
            text=named(reply.text, self._options.marks),
            n_prompt_tokens=self.count(prompt) if reply.n_prompt_tokens is None else reply.n_prompt_tokens,
            n_new_tokens=sum(map(self._counter.count, own)) if reply.n_new_tokens is None else reply.n_new_tokens,
            truncated=reply.truncated,
            n_cached_tokens=reply.n_cached_tokens or 0,
        )

    def _limited(self) -> Limit:
        """The smaller of what the user and the server say."""
        if self._limit is None:
            asked = self._options.max_positions
            said = self._endpoint.context_length(self.name)
            if said is not None and (asked is None or said < asked):
                self._limit = Limit(said, _SERVERS_WORD)
            else:
                self._limit = Limit(asked, "--max-positions") if asked else Limit(UNKNOWN, "the server says no limit")
        return self._limit

    def _probe(self) -> Reply:
        if self._probe_reply is None:
            (found,) = self._endpoint.ask([self._request(_PROBE, _PROBE_TOKENS)], _PROBE_TRIES)
            if isinstance(found, GenerationError):
                raise SetupError(
                    f"{self._endpoint.host} gave no answer to a test prompt for {self.name} ({found}); "
                    "check OPENAI_API_KEY, --base-url, --model and --request-field"
                )
            self._probe_reply = found
        return self._probe_reply


@dataclass
class _Served:
    """Sums over replies; the tokens are of those that said them."""

    models: set[str] = field(default_factory=set)
    fingerprints: set[str] = field(default_factory=set)
    n_replies: int = 0
    n_without_usage: int = 0
    n_prompt_tokens: int = 0
    n_new_tokens: int = 0
    n_reasoning_tokens: int = 0

    def add(self, reply: Reply) -> None:
        self.models.update(filter(None, [reply.model]))
        self.fingerprints.update(filter(None, [reply.fingerprint]))
        self.n_replies += 1
        self.n_without_usage += reply.n_new_tokens is None
        self.n_prompt_tokens += reply.n_prompt_tokens or 0
        self.n_new_tokens += reply.n_new_tokens or 0
        self.n_reasoning_tokens += reply.n_reasoning_tokens or 0

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"models": sorted(self.models), "fingerprints": sorted(self.fingerprints)}


def load_chat_model(name: str, tokenizer: str, options: ChatOptions) -> ChatModel:
    """The model `name` of a server, its prompts counted with a named tokenizer; the server is not asked yet."""
    if not name:
        raise SetupError("openai: names no model; write --model openai:MODEL")
    endpoint = Endpoint(
        options.base_url, concurrency=options.concurrency, tries=options.tries, timeout_s=options.timeout_s
    )
    return ChatModel(name, token_counter(tokenizer), endpoint, options)


_OF_PYTHON = {"None": "null", "True": "true", "False": "false"}  # words that are not JSON, and what they mean


def request_fields(written: Iterable[str], what: str = "request field") -> dict[str, Any]:
    """Request fields from KEY=VALUE, the value read as JSON where it is JSON and as text elsewhere.

    SetupError if a key is missing or given twice, or a value is a word of Python's, whose text would be sent.
    """
    fields: dict[str, Any] = {}
    for item in written:
        key, equals, value = item.partition("=")
        if not key or not equals or key in fields:
            raise SetupError(f"{what} {item!r} is not KEY=VALUE with a key of its own")
        if value in _OF_PYTHON:
            raise SetupError(f"{what} {item!r}: {value} is text in JSON; write {key}={_OF_PYTHON[value]}")
        try:
            fields[key] = json.loads(value)
        except RecursionError:
            raise SetupError(f"{what} {shortened(item)!r} is nested too deeply") from None
        except ValueError:
            fields[key] = value
    return fields


class Priced(Protocol):
    """What an estimate needs to know of a request.

    Requests with one `answer_key` are asked once; the key is a method and the digest of a prompt, None without one.
    """

    @property
    def answer_key(self) -> tuple[str, str | None]:
        """What has one answer."""
        ...

    @property
    def n_prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        ...

    @property
    def max_new_tokens(self) -> int:
        """The most tokens of its answer."""
        ...


class Estimate(NamedTuple):
    """Prompts to ask, their tokens, the most that can be answered, and the most that it costs, None without prices."""

    n_prompts: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def estimate(requests: Iterable[Priced], price_in: float | None = None, price_out: float | None = None) -> Estimate:
    """What requests take at prices per million tokens; the server's template and tries made again come on top."""
    asked = {request.answer_key: request for request in requests if request.answer_key[1] is not None}
    tokens_in = sum(request.n_prompt_tokens for request in asked.values())
    tokens_out = sum(request.max_new_tokens for request in asked.values())
    if price_in is None or price_out is None:
        return Estimate(len(asked), tokens_in, tokens_out, None)
    return Estimate(len(asked), tokens_in, tokens_out, (tokens_in * price_in + tokens_out * price_out) / 1e6)
