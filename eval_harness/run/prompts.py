"""The prompts of a config, each rendered and tokenised once and kept on disk until its batch runs."""

from array import array
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from builders.prompts import Prompt
from eval_harness.models.base import Model, Tokenises
from eval_harness.models.tokenised import Tokenised


class _Place(NamedTuple):
    """A prompt's offset in the file, the sizes of its parts, and the model that tokenised it."""

    start: int
    n_bytes: int
    n_spans: int
    n_numbers: int
    n_tokens: int
    by: object


class Prompts:
    """Prompts by digest of their text, in a temporary file, since those of a long config would fill the memory."""

    def __init__(self, model: Model, folder: Path) -> None:
        self._model = model
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - open as long as the run
        self._places: dict[str, _Place] = {}

    def add(self, sha256: str, prompt: Prompt) -> int:
        """Stores a prompt unless it is stored already; returns its number of tokens."""
        if sha256 not in self._places:
            self._places[sha256] = self._written(prompt)
        return self._places[sha256].n_tokens

    def get(self, sha256: str) -> Prompt:
        """The prompt with this digest, with its tokens if the model tokenises it."""
        place = self._places[sha256]
        self._file.seek(place.start)
        text = self._file.read(place.n_bytes).decode()
        spans = _numbers(self._file.read(8 * place.n_spans))
        if place.n_numbers:
            tokens = _numbers(self._file.read(4 * place.n_numbers))
            text = Tokenised.read(text, tokens, place.n_tokens, place.by)
        return Prompt(text, [*zip(spans[::2], spans[1::2], strict=True)])

    def clear(self) -> None:
        """Removes all prompts."""
        self._file.seek(0)
        self._file.truncate()
        self._places.clear()

    def close(self) -> None:
        """Removes the file."""
        self._file.close()

    def _written(self, prompt: Prompt) -> _Place:
        read = self._model.tokenised(prompt.text) if isinstance(self._model, Tokenises) else None
        n_tokens = self._model.count(prompt.text) if read is None else read.n_tokens
        text, spans = prompt.text.encode(), array("i", [side for span in prompt.spans for side in span])
        numbers = array("i") if read is None else read.numbers
        start = self._file.seek(0, 2)
        for part in (text, spans.tobytes(), numbers.tobytes()):
            self._file.write(part)
        by = None if read is None else read.by
        return _Place(start, len(text), len(prompt.spans), len(numbers), n_tokens, by)


def _numbers(content: bytes) -> "array[int]":
    found = array("i")
    found.frombytes(content)
    return found
