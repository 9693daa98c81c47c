"""The key and the address: used, and never shown."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.back_end import ChatOptions
from eval_harness.models.base import GenerationError
from eval_harness.models.chat_api import ChatModel, load_chat_model
from eval_harness.models.chat_http import Endpoint
from tests.eval_harness.models.chat_server import KEY, ChatServer, Fault

Make = Callable[..., ChatModel]


def test_the_key_is_in_no_error(make_model: Make, server: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"you sent Bearer {KEY}"}}
    server.order(Fault(400, echo), Fault(500, f"headers: {KEY}".encode()), Fault(drop="reset"))
    model = make_model(concurrency=1, tries=1)
    found = model.generate_each(["a", "b", "c"], 4)
    assert [type(item) for item in found] == [GenerationError] * 3
    seen = [
        caplog.text,
        *map(repr, found),
        *(repr(error.__context__) for error in found if isinstance(error, Exception)),
    ]
    seen += [repr(model), repr(vars(model)), str(model.served())]
    assert not [text for text in seen if KEY in text]
    assert "you sent Bearer [secret]" in str(found[0])


@pytest.mark.parametrize("before", range(260, 305, 5))
def test_no_piece_of_the_key_is_left_where_a_message_is_cut(before: int, make_model: Make, server: ChatServer) -> None:
    server.order(Fault(400, {"error": {"message": "x" * before + KEY + "y" * 99}}))
    (found,) = make_model().generate_each(["Rome"], 4)
    assert "sk-" not in str(found)


def test_credentials_of_the_address_are_in_no_record_or_log(
    make_model: Make, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    model = make_model(base_url=server.url.replace("//", "//me:open-sesame@"))
    assert model.generate(["Rome"], 4)[0].text == "Rome"
    assert (server.authorizations[0] or "").startswith("Basic ")
    server.order(Fault(400, {"error": {"message": "no me:open-sesame here"}}))
    assert "open-sesame" not in str(model.generate_each(["Rome"], 4))
    assert "open-sesame" not in caplog.text + str(model.describe())


@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://host/v1", "/v1", "http://", "http://me:open-sesame"])
def test_no_address(address: str, make_model: Make) -> None:
    with pytest.raises(SetupError, match="--base-url") as error:
        make_model(base_url=address)
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize(("key", "sent"), [(f"{KEY}\n", f"Bearer {KEY}"), ("  ", None)])
def test_a_key_from_a_file(
    key: str, sent: str | None, make_model: Make, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    make_model().generate(["x"], 1)
    assert server.authorizations == [sent]


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "sk-“quoted”"])
def test_a_key_that_is_none(key: str, make_model: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(SetupError, match="OPENAI_API_KEY holds characters") as error:
        make_model()
    assert "sk-" not in str(error.value)


def test_the_address_from_the_environment(
    make_model: Make, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/?api-version=2")
    assert make_model(base_url=None).generate(["Rome"], 4)[0].text == "Rome"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert Endpoint(None, concurrency=1, tries=1, timeout_s=1).host == "api.openai.com"


def test_loading_by_name(server: ChatServer, counter: Any) -> None:
    model = load_chat_model("org/tiny", counter.name, ChatOptions(server.url))
    assert (model.name, model.count("four"), server.asked) == ("org/tiny", 4, [])
    with pytest.raises(SetupError, match="write --model openai:MODEL"):
        load_chat_model("", counter.name, ChatOptions(server.url))
