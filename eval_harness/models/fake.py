"""A model that replays given outputs, for tests and for runs without a model."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from eval_harness.models.base import Generation, GenerationError


class FakeModel:
    """Answers with a function of the prompt; one whitespace-separated word is one token."""

    def __init__(self, answer: Callable[[str], str], *, name: str = "fake", max_positions: int = 1 << 20) -> None:
        self.name = name
        self.max_positions = max_positions
        self._answer = answer

    def count(self, prompt: str) -> int:
        """Words of the prompt."""
        return len(prompt.split())

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """The answers, each cut after `max_new_tokens` words."""
        return [self._generation(prompt, max_new_tokens) for prompt in prompts]

    def describe(self) -> dict[str, Any]:
        """The name alone."""
        return {"name": self.name}

    def _generation(self, prompt: str, max_new_tokens: int) -> Generation:
        text = self._answer(prompt)
        words = text.split()
        if len(words) <= max_new_tokens:
            return Generation(text, self.count(prompt), len(words), truncated=False)
        return Generation(" ".join(words[:max_new_tokens]), self.count(prompt), max_new_tokens, truncated=True)


def replaying(outputs: Mapping[str, str]) -> FakeModel:
    """A model that gives the output kept under a prompt's SHA-256, and GenerationError for a prompt it never saw."""

    def answer(prompt: str) -> str:
        key = sha256(prompt.encode()).hexdigest()
        if key not in outputs:
            raise GenerationError(f"no output is kept for the prompt {key}")
        return outputs[key]

    return FakeModel(answer, name="replay")
