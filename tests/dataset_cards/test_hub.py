"""How long the Hub is waited for, and what is said in the end."""

import time
from collections.abc import Callable

import httpx2
import pytest
from huggingface_hub.errors import HfHubHTTPError

from builders.errors import SetupError
from dataset_cards.hub import WAITS, Unreachable, patiently


def refusing(status: int, **headers: str) -> HfHubHTTPError:
    response = httpx2.Response(status, headers=headers, request=httpx2.Request("GET", "http://hub"))
    return HfHubHTTPError(f"{status} of\nthe Hub", response=response)


def after(*errors: Exception) -> Callable[[], str]:
    """Raises each error once, then gives an answer."""
    left = list(errors)

    def action() -> str:
        if left:
            raise left.pop(0)
        return "answer"

    return action


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


def in_a_thread(cause: Exception) -> RuntimeError:
    """The client's exception for an error during an upload."""
    error = RuntimeError("Error while uploading 'x' to the Hub.")
    error.__cause__ = cause
    return error


def test_waits_grow(waits: list[float]) -> None:
    errors = [refusing(500), httpx2.ConnectError("gone"), refusing(412), in_a_thread(refusing(503))]
    assert patiently("trying", after(*errors)) == "answer"
    assert waits == [1, 2, 4, 8]


def test_the_hub_may_say_how_long(waits: list[float]) -> None:
    limits = [refusing(429, ratelimit='"api";r=0;t=55'), refusing(429, ratelimit='"api";r=0;t=9999'), refusing(429)]
    assert patiently("trying", after(*limits)) == "answer"
    assert waits == [56, 300, 4]


def test_tries_are_counted(waits: list[float]) -> None:
    with pytest.raises(
        Unreachable, match=r"^trying: the Hub does not answer \(503 of the Hub\); uploaded files are kept"
    ):
        patiently("trying", after(*(refusing(503) for _ in range(len(WAITS) + 1))))
    assert waits == list(WAITS)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (refusing(401), "hf auth login"),
        (in_a_thread(refusing(403)), "may write to the repository"),
        (refusing(404), "no such dataset or revision"),
        (refusing(400), "400 of the Hub"),
        (ValueError("Invalid metadata in README.md.\n- tags"), "Invalid metadata in README.md. - tags"),
    ],
)
def test_refusals_are_not_tried_again(error: Exception, says: str, waits: list[float]) -> None:
    with pytest.raises(SetupError, match=says):
        patiently("trying", after(error))
    assert waits == []


def test_signed_addresses_are_not_shown(waits: list[float]) -> None:
    error = httpx2.ReadError("lost 'https://store/large/1?Signature=secret' (sent)")
    with pytest.raises(Unreachable, match=r"\(lost 'https://store/large/1' \(sent\)\)"):
        patiently("trying", after(error), waits=())


def test_a_hub_without_xet(waits: list[float]) -> None:
    missing = RuntimeError("404, domain: http://hub/api/datasets/me/icr2/xet-write-token/main")
    with pytest.raises(Unreachable, match="for a Hub without Xet set HF_HUB_DISABLE_XET=1"):
        patiently("trying", after(missing), waits=())
