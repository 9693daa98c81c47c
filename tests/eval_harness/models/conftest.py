"""A loopback chat server, and models that ask it."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from builders.tokens import TokenCounter, token_counter
from eval_harness.models.back_end import ChatOptions
from eval_harness.models.chat_api import ChatModel
from eval_harness.models.chat_http import Endpoint
from tests.eval_harness.conftest import save_tokenizer
from tests.eval_harness.models.chat_server import KEY, ChatServer, chat_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A server that answers with the prompt's last word, and the user's key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with chat_server(lambda prompt: prompt.split()[-1]) as running:
        yield running


@pytest.fixture(scope="session")
def counter(tmp_path_factory: pytest.TempPathFactory) -> TokenCounter:
    """Counts bytes: each is a token."""
    folder = tmp_path_factory.mktemp("bytes")
    save_tokenizer(folder, chat=False)
    return token_counter(str(folder))


@pytest.fixture
def pauses() -> list[float]:
    """The waits that were made, which take no time in tests."""
    return []


@pytest.fixture
def make_model(server: ChatServer, counter: TokenCounter, pauses: list[float]) -> Callable[..., ChatModel]:
    """Makes a model of the server from options."""

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    def make(name: str = "tiny", **given: Any) -> ChatModel:
        options = ChatOptions(**{"base_url": server.url, "tries": 3, "timeout_s": 10.0} | given)
        endpoint = Endpoint(
            options.base_url,
            concurrency=options.concurrency,
            tries=options.tries,
            timeout_s=options.timeout_s,
            pause=pause,
        )
        return ChatModel(name, counter, endpoint, options)

    return make


@pytest.fixture
def unused_port() -> int:
    """A port on loopback where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
