"""Requests to a chat server: several at a time, and again after a trouble that may pass."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.errors import SetupError
from eval_harness.models.base import GenerationError, Unasked
from eval_harness.models.chat_reply import Reply, Trouble, context_length, read, short

if TYPE_CHECKING:
    from httpx2 import URL, AsyncClient

OPENAI_URL = "https://api.openai.com/v1"
LONGEST_WAIT_S = 60.0
_CONNECT_S = 30.0
_LIST_S = 10.0  # for the list of models
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = tuple(each for name in ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY") for each in (name, name.lower()))
_SHORTEST_SECRET = 8  # characters: a shorter key is a placeholder such as EMPTY


class Endpoint:
    """A chat server by its base URL, asked with the key in OPENAI_API_KEY where there is one.

    `tries` and `timeout_s`, the seconds that a try may take, are of each request; `pause` waits between two tries.
    Neither the key nor the URL's credentials are in a message, in `host` or in what the client logs.
    """

    def __init__(
        self,
        base_url: str | None,
        *,
        concurrency: int,
        tries: int,
        timeout_s: float,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        url = _url(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL)
        self.host = url.netloc.decode()
        self.concurrency = concurrency
        self._tries = tries
        self._timeout_s = timeout_s
        self._pause = pause
        # Credentials apart, since the client logs addresses.
        self._auth = (url.username, url.password) if url.userinfo else None
        self._url = url.copy_with(username=None, password=None, path=f"{url.path.rstrip('/')}/chat/completions")
        self._list_url = self._url.copy_with(path=f"{url.path.rstrip('/')}/models")
        key = _key()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._secrets = [text for text in (key, url.password) if len(text) >= _SHORTEST_SECRET]
        self.n_retries = 0
        self._stop = ""  # the answer that leaves no hope for another request

    def ask(self, requests: Sequence[Mapping[str, Any]], tries: int | None = None) -> list[Reply | GenerationError]:
        """The reply to each request body, in order, or why there is none.

        SetupError if an earlier reply rules out success, for example for an invalid key.
        """
        if self._stop:
            raise SetupError(
                f"{self.host} answered {self._stop}; check OPENAI_API_KEY and the account, and rerun the same command "
                "to resume"
            )
        return asyncio.run(self._ask_all(requests, tries or self._tries))

    async def _ask_all(self, requests: Sequence[Mapping[str, Any]], tries: int) -> list[Reply | GenerationError]:
        from httpx2 import Limits, Timeout

        gate = asyncio.Semaphore(self.concurrency)
        timeout = Timeout(None, connect=_CONNECT_S)
        limits = Limits(max_connections=self.concurrency)
        async with self._client(timeout=timeout, limits=limits) as client:

            async def answer(request: Mapping[str, Any]) -> Reply | GenerationError:
                async with gate:
                    return await self._ask_one(client, request, tries)

            return await asyncio.gather(*map(answer, requests))

    def context_length(self, model: str) -> int | None:
        """The limit on prompt and output that the server's list of models names for one; None where it names none."""
        return context_length(asyncio.run(self._models()), model)

    async def _models(self) -> bytes:
        """The list of models as it came; empty where the server gives none."""
        from httpx2 import RequestError

        try:
            async with self._client(timeout=_LIST_S) as client:
                response = await client.get(self._list_url)
        except RequestError:
            return b""
        return bytes(response.content) if response.status_code == 200 else b""

    def _client(self, **settings: Any) -> "AsyncClient":
        """A client of the server; SetupError, which names the variable, where the environment's settings are wrong."""
        from httpx2 import AsyncClient

        try:
            return AsyncClient(headers=self._headers, auth=self._auth, **settings)
        except (ImportError, OSError, ValueError) as error:
            names = _CERTIFICATES if isinstance(error, OSError) else _PROXIES
            given = [name for name in names if os.environ.get(name)]
            missing = [name for name in given if names is _CERTIFICATES and not Path(os.environ[name]).exists()]
            found = missing or given
            if not found:
                raise
            what = "names no certificates that can be read" if isinstance(error, OSError) else "names no usable proxy"
            raise SetupError(
                f"{' or '.join(found)} {what} ({type(error).__name__}); unset it, or set it to one that works"
            ) from None

    async def _ask_one(self, client: "AsyncClient", request: Mapping[str, Any], tries: int) -> Reply | GenerationError:
        message = ""
        for done in range(1, tries + 1):
            if self._stop:
                return Unasked(f"not asked, since another was answered {self._stop}")
            found, wished_s = await self._try(client, request)
            if isinstance(found, Reply):
                return found
            message = short(self._without_secrets(found.message))  # in this order: a cut key would not be found
            if found.then == "stop":
                self._stop = message
                return Unasked(message)
            if found.then != "retry":
                return GenerationError(message)
            if done < tries:
                self.n_retries += 1
                await self._pause(wait_s(done, wished_s))
        return GenerationError(f"{message} ({tries} tries)")

    async def _try(self, client: "AsyncClient", request: Mapping[str, Any]) -> tuple[Reply | Trouble, float | None]:
        """What one request brought, and the seconds that the server wants to be left alone."""
        from httpx2 import RequestError

        try:
            async with asyncio.timeout(self._timeout_s):  # of the whole answer: a server may drip for ever
                response = await client.post(self._url, json=request)
        except TimeoutError:
            return Trouble(f"no answer within {self._timeout_s:g} s", "retry"), None
        except RequestError as error:
            return Trouble(f"connection failed: {str(error) or type(error).__name__}", "retry"), None
        wished_s = retry_after_s(response.headers.get("Retry-After"), datetime.now(UTC))
        return read(response.status_code, response.content), wished_s

    def _without_secrets(self, message: str) -> str:
        for secret in self._secrets:
            message = message.replace(secret, "[secret]")
        return message


def wait_s(done: int, wished_s: float | None) -> float:
    """Seconds to wait after `done` tries: 1, 2, 4, ..., or longer where the server wishes it, at most a minute."""
    return min(LONGEST_WAIT_S, max(2.0 ** (done - 1), wished_s or 0.0))


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a date (RFC 9110, 10.2.3); None for neither."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())


def _url(text: str) -> "URL":
    from httpx2 import URL, InvalidURL

    try:
        url = URL(text)
    except InvalidURL:  # its message can hold a piece of the address, and so of a password
        url = URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise SetupError(f"--base-url (or OPENAI_BASE_URL) is not an http:// or https:// address, such as {OPENAI_URL}")
    return url


def _key() -> str:
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key.isascii() or not key.isprintable():
        raise SetupError("OPENAI_API_KEY holds characters that no key has; set it again")
    return key
