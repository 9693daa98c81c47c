"""A Hub that answers otherwise than its client expects: one line, never a traceback."""

from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.hub import from_hub, misread
from tests.dataset_cards.publishing import publish
from tests.hub.server import LoopbackHub

CALLS = ["POST /api/repos/create", "GET /api/datasets/me/icr2$", "GET .*/refs", "GET .*/revision/main", "GET .*/tree/",
         "POST .*/preupload/", "POST .*/batch", "POST .*/commit/", "POST .*/tag/"]  # fmt: skip
BODIES = [b"{}", b"[]", b"null", b'"x"', b"{", b"", b"<html>", b'{"url": 3}', b'{"error": "x"}', b"\xff"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 418, 451, 500])
def test_a_status_is_one_line(call: str, status: int, built: Path, hub: LoopbackHub) -> None:
    hub.fault(call, status=status, times=50)
    _refused_or_done(built, hub)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("body", BODIES)
def test_another_body_is_one_line(call: str, body: bytes, built: Path, hub: LoopbackHub) -> None:
    hub.fault(call, body=body, times=50)
    _refused_or_done(built, hub)


def _refused_or_done(built: Path, hub: LoopbackHub) -> None:
    try:
        publish(built, hub)
    except SetupError as error:
        assert "\n" not in str(error) and str(error)
    else:
        assert hub.state.repos["me/icr2"].tags  # the client did not need that reply


def test_a_reply_without_url_is_named(built: Path, hub: LoopbackHub) -> None:
    hub.fault("POST /api/repos/create", body=b"{}", times=50)
    with pytest.raises(SetupError, match=r"creating me/icr2: the Hub's reply is not what .* \(KeyError"):
        publish(built, hub)


def test_errors_of_our_own_code_keep_their_traceback() -> None:
    def wrong(repository: str, revision: str | None) -> str:
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours") as raised:
        from_hub("the dataset", "me/icr2", "folder", wrong)
    assert not misread(raised.value)


def test_an_empty_message_is_named_by_its_type() -> None:
    def unreadable(repository: str, revision: str | None) -> str:
        raise OSError

    with pytest.raises(SetupError, match="the Hub did not serve it: OSError"):
        from_hub("the dataset", "me/icr2", "folder", unreadable)
