"""A chat server on loopback that answers as OpenAI-compatible servers do, with troubles to order."""

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

KEY = "sk-loopback-0123456789abcdef"


@dataclass
class Fault:
    """One trouble, for one request whose prompt holds `of`: another answer, or a connection that breaks.

    `drop`: the connection is reset before an answer (`reset`), closed without one (`silent`), or closed in the middle
    of a body of known length (`body`) or of unknown length (`chunk`). `hang`: no answer until the server closes.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    drop: Literal["reset", "silent", "body", "chunk"] | None = None
    hang: bool = False
    of: str = ""


@dataclass
class ChatServer:
    """The running server: what it answers, what it was asked, and what is to go wrong."""

    url: str
    answer: Callable[[str], Any]
    asked: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    models: Any = None  # the list of models that it gives, none by default
    most_at_once: int = 0
    closing: threading.Event = field(default_factory=threading.Event)
    _faults: list[Fault] = field(default_factory=list)
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def order(self, *faults: Fault, times: int = 1) -> None:
        """Orders troubles, each for the next request that it fits, `times` over."""
        self._faults.extend(list(faults) * times)

    def forgive(self) -> None:
        """Forgets the troubles that have not happened yet."""
        with self._lock:
            self._faults.clear()

    @property
    def prompts(self) -> list[str]:
        """The user texts that came in, in order."""
        return [request["messages"][-1]["content"] for request in self.asked]

    def enter(self, request: dict[str, Any], authorization: str | None) -> Fault | None:
        """Notes a request, and gives the trouble that it is to have."""
        with self._lock:
            self.asked.append(request)
            self.authorizations.append(authorization)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            prompt = request["messages"][-1]["content"]
            found = next((fault for fault in self._faults if fault.of in prompt), None)
            if found:
                self._faults.remove(found)
            return found

    def leave(self) -> None:
        """Notes that a request is over."""
        with self._lock:
            self._now -= 1


def completion(content: Any, *, finish: str = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    """A chat completion with one choice."""
    turn = {"role": "assistant", "content": content, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "tiny-2026-01",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": turn, "finish_reason": finish}],
        "usage": usage,
    }


@contextmanager
def chat_server(answer: Callable[[str], Any]) -> Iterator[ChatServer]:
    """A server for as long as the block runs; `answer` makes a text, or a whole completion, of a prompt."""
    server = _Server(("127.0.0.1", 0), _Handler)
    running = ChatServer(f"http://127.0.0.1:{server.server_port}/v1", answer)
    server.running = running  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.closing.set()
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing where a client hangs up; anything else is a mistake of the test."""
        if not isinstance(sys.exception(), ConnectionError | ValueError):  # ValueError: a file that was closed
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the requests are in the record."""

    def do_POST(self) -> None:
        running: ChatServer = self.server.running  # type: ignore[attr-defined]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = running.enter(request, self.headers.get("Authorization")) or Fault()
        if fault.hang:
            running.closing.wait()
        if self.path.partition("?")[0] != "/v1/chat/completions":
            fault = Fault(404, {"error": {"message": f"no route {self.path}"}})
        body = running.answer(request["messages"][-1]["content"]) if fault.body is None else fault.body
        body = completion(body) if isinstance(body, str) else body
        running.leave()  # before the answer goes out, which lets the next request in
        if fault.drop in ("reset", "silent"):
            self._hang_up(reset=fault.drop == "reset")
        else:
            self._send(fault, body if isinstance(body, bytes) else json.dumps(body).encode())

    def do_GET(self) -> None:
        running: ChatServer = self.server.running  # type: ignore[attr-defined]
        listed = running.models if self.path == "/v1/models" else None
        fault = Fault(404) if listed is None else Fault()
        self._send(fault, json.dumps(listed or {}).encode())

    def _send(self, fault: Fault, body: bytes) -> None:
        self.send_response(fault.status)
        for key, value in {"Content-Type": "application/json", **fault.headers}.items():
            self.send_header(key, value)
        if fault.drop == "chunk":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(f"{len(body):x}\r\n".encode() + body[: len(body) // 2])
        else:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if fault.drop == "body" else body)
        if fault.drop:
            self._hang_up()

    def _hang_up(self, *, reset: bool = False) -> None:
        self.close_connection = True
        self.wfile.flush()
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()  # the last holder of the socket sends the reset when it closes
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
