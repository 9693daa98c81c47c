"""One HTTP answer at a time: what is read from it, and what is done about it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.models.chat_http import retry_after_s, wait_s
from eval_harness.models.chat_reply import Reply, Trouble, context_length, ended_by, read, short
from tests.eval_harness.models.chat_server import completion

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def reply(body: Any) -> Reply:
    found = read(200, json.dumps(body).encode())
    assert isinstance(found, Reply), found
    return found


def trouble(status: int, body: Any) -> Trouble:
    found = read(status, body if isinstance(body, bytes) else json.dumps(body).encode())
    assert isinstance(found, Trouble), found
    return found


def test_a_whole_completion() -> None:
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "total_tokens": 18,
        "completion_tokens_details": {"reasoning_tokens": 5},
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    found = reply(completion("Rome", usage=usage, reasoning_content="Paris or Rome?"))
    assert found == Reply("Rome", "Paris or Rome?", False, "tiny-2026-01", "fp_1", 11, 7, 5, 8)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", ""),
        (None, ""),
        ("  Zoë 🍕 東京\n", "  Zoë 🍕 東京\n"),
        (
            [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Ro"}, {"type": "text", "text": "me"}],
            "Rome",
        ),
    ],
)
def test_content(content: Any, text: str) -> None:
    assert reply(completion(content)).text == text


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    """JSON may hold one, a UTF-8 results file may not."""
    body = json.dumps(completion("X")).replace('"X"', '"\\ud83c\\udf55 \\ud83c"').encode()
    found = read(200, body)
    assert isinstance(found, Reply)
    assert found.text == "🍕 \ufffd"
    found.text.encode()


def test_reasoning_is_no_part_of_the_text() -> None:
    """An answer that stands in the thoughts alone is none."""
    for name in ("reasoning_content", "reasoning"):
        found = reply(completion(None, finish="length", **{name: "Paris or Rome?"}))
        assert (found.text, found.reasoning, found.truncated) == ("", "Paris or Rome?", True)


def test_a_refusal_is_the_answer() -> None:
    assert reply(completion(None, refusal="I cannot help with that.")).text == "I cannot help with that."


@pytest.mark.parametrize("usage", [None, [], "none", {}, {"completion_tokens": None}, {"completion_tokens": -1}])
def test_no_usage(usage: Any) -> None:
    found = reply(completion("x", usage=usage))
    assert (found.n_prompt_tokens, found.n_new_tokens, found.n_reasoning_tokens) == (None, None, None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>busy</html>",
        b'{"choices": [{"mess',
        b"[" * 100_000,
        b"null",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": ["x"]}',
        b'{"choices": [{"message": null, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": 42}, "finish_reason": "stop"}]}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_completion_is_asked_again(body: bytes) -> None:
    assert trouble(200, body).then == "retry"


@given(st.binary())
def test_no_body_is_too_strange_to_read(body: bytes) -> None:
    assert isinstance(read(200, body), Trouble)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            key: st.none() | st.integers() | st.text() | st.lists(st.none() | st.dictionaries(st.text(), st.text()))
            for key in ("choices", "usage", "model", "system_fingerprint", "error", "message", "detail")
        },
    ),
    st.sampled_from([200, 400, 429, 500]),
)
def test_no_field_is_too_strange_to_read(fields: dict[str, Any], status: int) -> None:
    found = read(status, json.dumps(fields).encode())
    assert isinstance(found, Trouble)
    assert len(short(found.message).encode()) <= 4 * 300


@pytest.mark.parametrize(
    ("status", "then"),
    [
        (408, "retry"),
        (409, "retry"),
        (425, "retry"),
        (429, "retry"),
        (500, "retry"),
        (502, "retry"),
        (503, "retry"),
        (529, "retry"),
        (401, "stop"),
        (402, "stop"),
        (307, "give up"),
        (400, "give up"),
        (403, "give up"),
        (404, "give up"),
        (413, "give up"),
        (422, "give up"),
    ],
)
def test_what_is_done_about_a_status(status: int, then: str) -> None:
    assert trouble(status, {"error": {"message": "no"}}) == (f"{status}: no", then)


def test_a_used_up_quota_stops_though_its_status_is_that_of_haste() -> None:
    assert trouble(429, {"error": {"message": "pay", "code": "insufficient_quota"}}).then == "stop"
    assert trouble(429, {"error": {"message": "wait", "code": "rate_limit_exceeded"}}).then == "retry"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "too long", "code": "context_length_exceeded"}},
        {"object": "error", "message": "too long", "code": 400},
        {"error": "too long"},
        {"detail": "too long"},
        b"too\n  long",
    ],
)
def test_the_server_s_own_words_wherever_they_stand(body: Any) -> None:
    assert short(trouble(400, body).message) == "400: too long"


def test_a_message_is_short_and_never_empty() -> None:
    message = short(trouble(400, {"error": {"message": "long " * 1000}}).message)
    assert len(message) == 300
    assert message.endswith("…")
    assert trouble(503, b"").message == "503: no message"


def test_an_error_with_status_200() -> None:
    assert trouble(200, {"error": {"code": 400, "message": "no"}}) == ("400: no", "give up")
    assert trouble(200, {"error": {"code": "upstream", "message": "no"}}) == ("502: no", "retry")
    assert trouble(200, {"error": "no"}) == ("502: no", "retry")


def test_finish_reasons() -> None:
    assert reply(completion("x", finish="length")).truncated
    assert not reply(completion("x", finish="stop")).truncated
    assert trouble(200, completion("x", finish="content_filter")).then == "give up"
    assert trouble(200, completion("x", finish="error")).then == "retry"


@pytest.mark.parametrize(
    ("finish", "end"),
    [
        *((name, "truncated") for name in ("length", "max_tokens", "MAX_TOKENS", "FINISH_REASON_MAX_TOKENS")),
        *((name, "truncated") for name in ("model_length", "model_context_window_exceeded", " Length ")),
        *((name, "filtered") for name in ("content_filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "refusal")),
        *((name, "broken") for name in ("insufficient_system_resource", "error", "abort", "ERROR", "timeout")),
        *((name, "whole") for name in ("stop", "STOP", "end_turn", "eos", "eos_token", "COMPLETE", "", None, 7, "new")),
    ],
)
def test_reasons_of_servers_for_the_end_of_an_output(finish: Any, end: str) -> None:
    assert ended_by(finish) == end
    body = completion("x", finish=finish)
    if end in ("whole", "truncated"):
        assert reply(body).truncated == (end == "truncated")
    else:
        assert trouble(200, body).then == ("give up" if end == "filtered" else "retry")


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ({"data": [{"id": "m", "max_model_len": 4096}]}, 4096),
        ({"data": [{"id": "a", "max_model_len": 1}, {"id": "m", "context_length": 8192}]}, 8192),
        ({"data": [{"id": "served-under-another-name", "max_model_len": 4096}]}, 4096),
        ({"data": [{"id": "m", "meta": {"n_ctx": 2048, "n_ctx_train": 131072}}]}, 2048),
        ({"data": [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}]}, None),
        ({"data": [{"id": "m"}]}, None),
        ({"data": [{"id": "m", "max_model_len": "4096"}]}, None),
        ({"data": [{"id": "m", "max_model_len": 0}]}, None),
        ({"data": {"id": "m"}}, None),
        ([], None),
    ],
)
def test_the_limit_in_a_list_of_models(body: Any, length: int | None) -> None:
    assert context_length(json.dumps(body).encode(), "m") == length
    assert context_length(b"<html>", "m") is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7),
        (" 0 ", 0),
        ("soon", None),
        ("-3", None),
        ("Sun, 01 Mar 2026 12:00:09 GMT", 9),
        ("Sun, 01 Mar 2026 12:00:09 -0000", 9),
        ("Sun, 01 Mar 2026 13:00:09 +0100", 9),
        ("Sun, 01 Mar 2026 11:59:00 GMT", 0),
        ("Sun, 99 Mar 2026 11:59:00 GMT", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ ([+-]\d+|[A-Z]+)"))
def test_no_retry_after_is_too_strange_to_read(value: str) -> None:
    found = retry_after_s(value, NOW)
    assert found is None or found >= 0


def test_retry_after_counts_from_now() -> None:
    assert retry_after_s("Sun, 01 Mar 2026 12:00:09 GMT", NOW + timedelta(seconds=4)) == 5


def test_waits_double_are_as_long_as_wished_and_end_at_a_minute() -> None:
    assert [wait_s(done, None) for done in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert [wait_s(1, wished) for wished in (0, 1, 30, 3600)] == [1, 1, 30, 60]
    assert wait_s(5, 2) == 16
