"""Injected faults: errors for the next matching requests."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass
class Fault:
    """One trouble, for the next `times` requests after the first `skip` whose "METHOD /path" matches `request`.

    `hook` runs first; then the request waits `delay` seconds, is answered with `status`, with `body` or with what
    `change` makes of the right body, or loses its connection: before it is read whole (`request`), after it was done
    but before its answer (`answer`), or in the middle of the answer's body (`body`).
    """

    request: str
    times: int = 1
    skip: int = 0
    status: int | None = None
    drop: Literal["request", "answer", "body"] | None = None
    delay: float = 0.0
    body: bytes | None = None
    change: Callable[[bytes], bytes] | None = None
    hook: Callable[[], object] | None = None


class Faults:
    """The troubles in order; each request takes the first that matches it."""

    def __init__(self) -> None:
        self._ordered: list[Fault] = []
        self._lock = threading.Lock()

    def order(self, fault: Fault) -> None:
        """Adds a trouble."""
        with self._lock:
            self._ordered.append(fault)

    def clear(self) -> None:
        """Forgets what has not happened yet."""
        with self._lock:
            self._ordered.clear()

    def next(self, request: str) -> Fault | None:
        """The trouble of a request, used up by one."""
        with self._lock:
            for fault in self._ordered:
                if not fault.times or not re.search(fault.request, request):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                return fault
        return None
