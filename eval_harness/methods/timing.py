"""The time that the steps of an answer take."""

import time


class Steps:
    """Seconds of each step by name, one beginning where the last one ended."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.perf_counter()

    def done(self, name: str) -> None:
        """Says that a step is over."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._began, 4)
        self._began = now
