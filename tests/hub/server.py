"""A Hub on loopback that the real clients speak to: what they call, answered as the Hub answers it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.hub.faults import Fault, Faults
from tests.hub.routes import Answer, Call, answer
from tests.hub.state import Hub, Refused


@dataclass(frozen=True)
class Request:
    """One request as it came in, without its token."""

    method: str
    path: str
    headers: dict[str, str]
    size: int


@dataclass
class LoopbackHub:
    """The running server: its address, state, request log, and injected faults."""

    url: str
    state: Hub
    faults: Faults = field(default_factory=Faults)
    requests: list[Request] = field(default_factory=list)
    page_size: int = 1000
    part_size: int | None = None  # large files above it are sent in parts

    def fault(self, request: str, **trouble: Any) -> None:
        """Orders a trouble, see Fault."""
        self.faults.order(Fault(request, **trouble))

    def count(self, method: str, start: str = "/") -> int:
        """How many requests of a method began with a path."""
        return sum(request.method == method and request.path.startswith(start) for request in self.requests)


@contextmanager
def loopback_hub(tokens: dict[str, str]) -> Iterator[LoopbackHub]:
    """A Hub for as long as the block runs; `tokens` are its users' tokens with "read" or "write"."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    hub = LoopbackHub(f"http://127.0.0.1:{server.server_port}", Hub(tokens))
    server.hub = hub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the requests are in the record."""

    def _handle(self) -> None:
        hub: LoopbackHub = self.server.hub  # type: ignore[attr-defined]
        fault = hub.faults.next(f"{self.command} {self.path}") or Fault("")
        if fault.hook:
            fault.hook()
        if fault.delay:
            threading.Event().wait(fault.delay)
        if fault.drop == "request":
            self.rfile.read(1)
            return self._hang_up()
        body = self._body()
        headers = {key.lower(): value for key, value in self.headers.items() if key.lower() != "authorization"}
        hub.requests.append(Request(self.command, self.path, headers, len(body)))
        reply = self._error(Refused(fault.status, "ordered")) if fault.status else self._answer(hub, body)
        if fault.body is not None:
            reply = Answer(fault.body)
        if fault.change:
            reply = reply._replace(body=fault.change(reply.body))
        if fault.drop == "answer":
            return self._hang_up()
        return self._send(reply, cut=fault.drop == "body")

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _handle

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, hub: LoopbackHub, body: bytes) -> Answer:
        url = urlsplit(self.path)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        call = Call(self.command, unquote(url.path), query, body, dict(self.headers.items()), token)
        try:
            return answer(hub, call)
        except Refused as refused:
            return self._error(refused)

    @staticmethod
    def _error(refused: Refused) -> Answer:
        headers = {"X-Error-Message": refused.message}
        if refused.code:
            headers["X-Error-Code"] = refused.code
        return Answer(json.dumps({"error": refused.message}).encode(), refused.status, headers)

    def _send(self, reply: Answer, cut: bool) -> None:
        self.send_response(reply.status)
        for key, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body[: len(reply.body) // 2] if cut else reply.body)
        if cut:
            self._hang_up()

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(2)
