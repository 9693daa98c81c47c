"""A model behind a server that misbehaves."""

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.back_end import ChatOptions
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.chat_api import ChatModel, Estimate, estimate, request_fields
from eval_harness.models.chat_http import Endpoint
from tests.eval_harness.models.chat_server import KEY, ChatServer, Fault, completion

Make = Callable[..., ChatModel]

PASSING = {
    "429": Fault(429, {"error": {"message": "slow down"}}),
    "500": Fault(500, {"error": {"message": "oops"}}),
    "503": Fault(503, b"<html>loading</html>"),
    "wrong JSON": Fault(200, b'{"choices": [{"message"'),
    "no choices": Fault(200, {"object": "chat.completion", "choices": []}),
    "reset": Fault(drop="reset"),
    "closed": Fault(drop="silent"),
    "cut body": Fault(drop="body"),
    "cut chunk": Fault(drop="chunk"),
    "not gzip": Fault(200, b"plain", {"Content-Encoding": "gzip"}),
}


def test_the_request_is_greedy_and_carries_the_key(make_model: Make, server: ChatServer) -> None:
    assert make_model().generate(["say Rome"], 16)[0].text == "Rome"
    assert server.asked == [
        {
            "model": "tiny",
            "messages": [{"role": "user", "content": "say Rome"}],
            "max_tokens": 16,
            "temperature": 0,
            "seed": 0,
        }
    ]
    assert server.authorizations == [f"Bearer {KEY}"]


def test_what_a_user_may_change_in_the_request(make_model: Make, server: ChatServer) -> None:
    """The system turn is sent as it is."""
    fields = {"temperature": None, "seed": 7, "chat_template_kwargs": {"enable_thinking": False}}
    make_model(system="CITE", limit_field="max_completion_tokens", fields=fields).generate(["x"], 16)
    assert server.asked[0] == {
        "model": "tiny",
        "messages": [{"role": "system", "content": "CITE"}, {"role": "user", "content": "x"}],
        "max_completion_tokens": 16,
        "seed": 7,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    with pytest.raises(SetupError, match="field max_tokens is set by the run itself"):
        make_model(fields={"max_tokens": 3})


def test_no_key_no_header(make_model: Make, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    make_model().generate(["x"], 1)
    assert server.authorizations == [None]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_answers_come_in_order_and_few_at_a_time(concurrency: int, make_model: Make, server: ChatServer) -> None:
    words = [f"w{number}" for number in range(12)]
    together = threading.Barrier(concurrency, timeout=10)  # nobody is answered until so many ask

    def answer(prompt: str) -> str:
        together.wait()
        return prompt

    server.answer = answer
    model = make_model(concurrency=concurrency)
    assert [generation.text for generation in model.generate(words, 4)] == words
    assert server.most_at_once == concurrency == model.concurrency


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_trouble_that_passes(fault: Fault, make_model: Make, server: ChatServer, pauses: list[float]) -> None:
    server.order(fault, fault)
    model = make_model()
    assert model.generate(["Rome"], 4)[0].text == "Rome"
    assert pauses == [1, 2]
    assert server.prompts == ["Rome"] * 3
    assert model.served()["n_retries"] == 2


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_trouble_that_stays_costs_its_own_prompt_alone(fault: Fault, make_model: Make, server: ChatServer) -> None:
    fault.of = "Oslo"
    server.order(fault, times=3)
    first, second, third = make_model().generate_each(["Rome", "Oslo", "Lima"], 4)
    assert isinstance(first, Generation)
    assert isinstance(third, Generation)
    assert (first.text, third.text) == ("Rome", "Lima")
    assert isinstance(second, GenerationError)
    assert str(second).endswith("(3 tries)")
    assert sorted(server.prompts) == ["Lima", "Oslo", "Oslo", "Oslo", "Rome"]


def test_a_slow_server(make_model: Make, server: ChatServer) -> None:
    server.order(Fault(hang=True))
    assert make_model(timeout_s=0.3).generate(["Rome"], 4)[0].text == "Rome"
    server.order(Fault(hang=True), times=3)
    with pytest.raises(GenerationError, match=r"no answer within 0.2 s \(3 tries\)"):
        make_model(timeout_s=0.2).generate(["Rome"], 4)


def test_the_server_says_when_to_come_back(make_model: Make, server: ChatServer, pauses: list[float]) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.order(Fault(429, {}, {"Retry-After": "11"}), Fault(503, {}, {"Retry-After": date}))
    make_model().generate(["Rome"], 4)
    assert pauses[0] == 11
    assert 20 < pauses[1] <= 30


def test_a_refused_prompt_is_not_asked_again(make_model: Make, server: ChatServer) -> None:
    words = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."
    server.order(Fault(400, {"error": {"message": words, "code": "context_length_exceeded"}}, of="long"))
    found = make_model().generate_each(["long", "Rome"], 4)
    assert str(found[0]) == f"400: {words}"
    assert isinstance(found[1], Generation)
    assert sorted(server.prompts) == ["Rome", "long"]


def test_a_filtered_answer_is_an_error(make_model: Make, server: ChatServer) -> None:
    server.order(Fault(body=completion("par", finish="content_filter")))
    with pytest.raises(GenerationError, match="content filter"):
        make_model().generate(["Rome"], 4)


def test_tokens_are_the_server_s_where_it_says_them(make_model: Make, server: ChatServer) -> None:
    usage = {
        "prompt_tokens": 31,
        "prompt_tokens_details": {"cached_tokens": 16},
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 6},
    }
    server.order(Fault(body=completion("Rome", usage=usage, finish="length")), Fault(body=completion("Oslo")))
    model = make_model(concurrency=1)
    assert model.generate(["four", "four"], 9) == [Generation("Rome", 31, 9, True, 16), Generation("Oslo", 4, 4, False)]
    assert model.served() == {
        "models": ["tiny-2026-01"],
        "fingerprints": ["fp_1"],
        "n_replies": 2,
        "n_without_usage": 1,
        "n_prompt_tokens": 31,
        "n_new_tokens": 9,
        "n_reasoning_tokens": 6,
        "n_retries": 0,
    }


def test_thoughts_are_counted_and_left_out(make_model: Make, server: ChatServer) -> None:
    server.order(Fault(body=completion("Rome", reasoning_content="Oslo? No.")))
    assert make_model().generate(["x"], 20) == [Generation("Rome", 1, len("Oslo? No.") + len("Rome"), False)]


def test_the_record(make_model: Make, server: ChatServer, counter: Any) -> None:
    model = make_model(system="CITE", max_positions=100, fields={"top_k": 1, "seed": None})
    found = model.describe()
    assert found == {
        "name": "tiny",
        "host": server.url.split("/")[2],
        "served_model": "tiny-2026-01",
        "system": "CITE",
        "decoding": {"temperature": 0, "top_k": 1},
        "limit_field": "max_tokens",
        "max_positions": 100,
        "tokenizer": {
            "name": counter.name,
            "sha256": counter.sha256,
            "counts": "the text alone, without the server's template",
        },
    }
    assert model.describe() == found
    assert len(server.asked) == 1
    assert (model.max_positions, model.count("four")) == (100, len("CITE") + len("four"))


def test_nothing_that_leaves_answers_alone_is_in_the_record(make_model: Make) -> None:
    """So that a run can go on more slowly, or with more patience."""
    assert make_model(concurrency=1, tries=1, timeout_s=5).describe() == make_model().describe()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), r"401: Incorrect .*: \[secret\]"),
        (Fault(402, {"error": {"message": "Insufficient credits"}}), "402: Insufficient credits"),
        (Fault(429, {"error": {"message": "quota", "code": "insufficient_quota"}}), "429: quota"),
    ],
)
def test_what_no_prompt_would_survive_stops_the_run_and_keeps_what_was_answered(
    fault: Fault, message: str, make_model: Make, server: ChatServer, pauses: list[float]
) -> None:
    fault.of = "Oslo"
    server.order(fault)
    model = make_model(concurrency=1)
    first, second, third = model.generate_each(["Rome", "Oslo", "Lima"], 4)
    assert isinstance(first, Generation)
    assert re.search(message, str(second))
    assert re.search(f"not asked, since another was answered {message}", str(third))
    with pytest.raises(SetupError, match=f"answered {message}; check OPENAI_API_KEY"):
        model.generate_each(["Rome"], 4)
    assert (server.prompts, pauses) == (["Rome", "Oslo"], [])


def test_a_mistake_shows_before_the_run(make_model: Make, server: ChatServer) -> None:
    server.order(Fault(400, {"error": {"message": "Unsupported parameter: 'max_tokens'"}}))
    with pytest.raises(SetupError, match=r"gave no answer to a test prompt for tiny \(400: Unsupported .*check OPENAI"):
        make_model().describe()
    with pytest.raises(SetupError, match="404: no route /v2/chat/completions"):
        make_model(base_url=server.url.replace("/v1", "/v2")).describe()


def test_nobody_listens(make_model: Make, unused_port: int) -> None:
    with pytest.raises(SetupError, match="connection failed"):
        make_model(base_url=f"http://127.0.0.1:{unused_port}/v1").describe()


def test_an_interrupted_wait_ends_at_once(server: ChatServer, counter: Any) -> None:
    async def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    server.order(PASSING["500"])
    endpoint = Endpoint(server.url, concurrency=2, tries=3, timeout_s=10, pause=interrupted)
    with pytest.raises(KeyboardInterrupt):
        ChatModel("tiny", counter, endpoint, ChatOptions()).generate(["Rome", "Oslo"], 4)


def test_request_fields() -> None:
    written = ["seed=null", "top_k=1", "reasoning_effort=low", 'a={"b": [true]}', "stop=a=b"]
    assert request_fields(written) == {
        "seed": None,
        "top_k": 1,
        "reasoning_effort": "low",
        "a": {"b": [True]},
        "stop": "a=b",
    }
    for wrong in (["top_k"], ["=1"], ["a=1", "a=2"]):
        with pytest.raises(SetupError, match="is not KEY=VALUE"):
            request_fields(wrong)


@pytest.mark.parametrize(("word", "json"), [("None", "null"), ("True", "true"), ("False", "false")])
def test_a_word_of_pythons_is_refused_with_that_of_json(word: str, json: str) -> None:
    for what in ("request field", "--template-field"):
        with pytest.raises(SetupError, match=f"^{what} 'temperature={word}': .*; write temperature={json}$"):
            request_fields([f"temperature={word}"], what)
    assert request_fields([f'temperature="{word}"']) == {"temperature": word}


def test_estimate() -> None:
    def request(method: str, digest: str | None, tokens: int, new: int) -> Any:
        return SimpleNamespace(answer_key=(method, digest), n_prompt_tokens=tokens, max_new_tokens=new)

    requests = [
        request("direct", "a", 100, 64),
        request("direct", "a", 100, 64),  # the same question in another config is asked once
        request("direct", "b", 900, 64),
        request("direct", None, 0, 64),
    ]
    assert estimate(requests) == Estimate(2, 1000, 128, None)
    # 1000 x 2.50 / 1e6 + 128 x 10 / 1e6
    assert estimate(requests, 2.5, 10).cost == pytest.approx(0.00378)
    assert estimate([], 1, 1) == Estimate(0, 0, 0, 0)
