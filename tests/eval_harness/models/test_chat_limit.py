"""The limit that a server names, marks of thoughts in its replies, and settings of the environment that are wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.models.chat_api import ChatModel
from eval_harness.models.limits import UNKNOWN
from eval_harness.models.thoughts import without_thoughts
from tests.eval_harness.models.chat_server import ChatServer, Fault, completion

Make = Callable[..., ChatModel]
LISTED = {"data": [{"id": "tiny", "max_model_len": 300}]}


def test_the_servers_limit_is_used_and_recorded(make_model: Make, server: ChatServer) -> None:
    server.models = LISTED
    model = make_model()
    assert (model.max_positions, model.limit_source) == (300, "/models of the server")
    found = model.describe()
    assert (found["max_positions"], found["max_positions_from"]) == (300, "/models of the server")


@pytest.mark.parametrize(("asked", "want"), [(200, 200), (400, 300), (None, 300)])
def test_the_smaller_limit_counts(make_model: Make, server: ChatServer, asked: int | None, want: int) -> None:
    server.models = LISTED
    assert make_model(max_positions=asked).max_positions == want


def test_a_server_that_names_none_has_the_users_limit(make_model: Make, server: ChatServer) -> None:
    assert make_model().max_positions == UNKNOWN
    assert "max_positions_from" not in make_model().describe()
    assert (make_model(max_positions=200).max_positions, make_model(max_positions=200).limit_source) == (
        200,
        "--max-positions",
    )


def test_marks_of_a_users_own_are_read_in_replies(make_model: Make, server: ChatServer) -> None:
    server.order(Fault(body=completion("<r>Oslo?</r>Rome")))
    (found,) = make_model(marks=("<r>", "</r>")).generate(["x"], 9)
    assert without_thoughts(found.text) == "Rome"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("all_proxy", "ftp://127.0.0.1:9"),
        ("HTTP_PROXY", "nonsense://x"),
        ("SSL_CERT_FILE", "/no/such/file.pem"),
    ],
)
def test_a_wrong_setting_of_the_environment_is_named(
    make_model: Make, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    model = make_model()
    monkeypatch.setenv(variable, value)
    with pytest.raises(SetupError, match=rf"^{variable} names no .*; unset it"):
        model.describe()


def test_a_proxys_password_is_not_in_the_message(make_model: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:secretword@127.0.0.1:9")
    with pytest.raises(SetupError) as error:
        make_model().describe()
    assert "secretword" not in str(error.value)


def test_a_file_without_certificates_is_named(
    make_model: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.pem").write_text("no certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "broken.pem"))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    with pytest.raises(SetupError, match=r"^SSL_CERT_FILE names no"):
        make_model().describe()
