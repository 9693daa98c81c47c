"""Embeddings by a sentence-transformers model with its prompts, and how much of each text the model reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from builders.config import digest_of
from builders.device import DType
from builders.errors import SetupError
from builders.files import replacing
from builders.retrieve.embeddings import read_vectors, write_vectors
from builders.retrieve.encoders import SentenceEncoder, checked_vectors, encoder, files_digest

Side = Literal["query", "passage"]
Prompts = Mapping[Side, str | None]  # None: the model's own

BLOCK = 64  # texts per file of embeddings
_PASSAGE_PROMPTS = ("document", "passage", "corpus")  # names that sentence-transformers tries, in this order


class Reading(NamedTuple):
    """A text's number of tokens for a model, with prompt and special tokens, and how many characters are read.

    Texts of a side with equal `key` are equal to the model: they differ at most past its limit.
    """

    tokens: int
    characters: int
    key: str


class Embedder(Protocol):
    """A model that embeds texts of any length."""

    @property
    def limit(self) -> int | None:
        """The token limit of a text; None without a limit."""
        ...

    @property
    def digest(self) -> str:
        """A digest of everything that an embedding depends on except its text."""
        ...

    def encode(self, side: Side, texts: Sequence[str], most_tokens: int) -> np.ndarray:
        """Embeddings of shape (texts, dimensions); at most `most_tokens` tokens of each text are read."""
        ...

    def readings(self, side: Side, texts: Sequence[str]) -> list[Reading]:
        """How much of each text is read."""
        ...

    def describe(self) -> dict[str, Any]:
        """What the embeddings depend on, for a run's record."""
        ...


class SentenceEmbedder(SentenceEncoder):
    """A sentence-transformers model for both sides; `batch_tokens` bounds the padded tokens of a forward pass."""

    def __init__(self, name: str, folder: Path, dtype: str, threads: int, prompts: Prompts, batch_tokens: int) -> None:
        super().__init__(folder, dtype, "both", threads)
        self.name, self._prompts, self._batch_tokens = name, prompts, batch_tokens

    def encode(self, side: Side, texts: Sequence[str], most_tokens: int) -> np.ndarray:  # type: ignore[override]
        """Embeddings, float32 of shape (texts, dimensions)."""
        encode = self._model.encode_query if side == "query" else self._model.encode_document
        size = max(1, min(self._batch_size, self._batch_tokens // max(1, most_tokens)))
        vectors = encode(list(texts), prompt=self._prompts.get(side), batch_size=size, show_progress_bar=False)
        return checked_vectors(np.asarray(vectors, dtype=np.float32), texts, self.name)

    @cached_property
    def limit(self) -> int | None:
        """The model's `max_seq_length`."""
        limit = self._model.max_seq_length
        return int(limit) if limit and limit < 1 << 30 else None  # tokenizers represent "no limit" by a huge number

    @cached_property
    def digest(self) -> str:
        """A digest of the model's files, the dtype and the prompts."""
        return digest_of([files_digest(self.folder), self.dtype, dict(self._prompts)])

    def readings(self, side: Side, texts: Sequence[str]) -> list[Reading]:
        """How much of each text is read: its first tokens, up to the limit."""
        return [
            reading
            for start in range(0, len(texts), BLOCK)  # token lists take far more memory than texts
            for reading in self._readings(self.prompt(side), texts[start : start + BLOCK])
        ]

    def _readings(self, prompt: str, texts: Sequence[str]) -> Iterator[Reading]:
        tokenizer = self._model.tokenizer
        special = tokenizer.num_special_tokens_to_add()
        found = tokenizer([prompt + text for text in texts], add_special_tokens=False, truncation=False, verbose=False)
        for at, (text, ids) in enumerate(zip(texts, found["input_ids"], strict=True)):
            read, characters = ids, len(text)
            if self.limit is not None and len(ids) + special > self.limit:
                read = ids[: self.limit - special]
                characters = max(0, found.token_to_chars(at, len(read) - 1).end - len(prompt))
            yield Reading(len(ids) + special, characters, digest_of(read))

    def prompt(self, side: Side) -> str:
        """The prompt before texts of a side."""
        given = self._prompts.get(side)
        if given is not None:
            return given
        names = ("query",) if side == "query" else _PASSAGE_PROMPTS
        own: Mapping[str, str] = self._model.prompts
        return next((own[name] for name in names if name in own), "")

    def describe(self) -> dict[str, Any]:
        """Name, digest of the files, dtype, limit and prompts."""
        return {
            "name": self.name,
            "files": files_digest(self.folder),
            "dtype": self.dtype,
            "limit": self.limit,
            "query_prompt": self.prompt("query"),
            "passage_prompt": self.prompt("passage"),
        }


def load_embedder(model: str, dtype: DType, prompts: Prompts, batch_tokens: int | None) -> SentenceEmbedder:
    """The sentence-transformers model of a folder, a Hub id[@revision] or `bundled:NAME`; SetupError for another kind.

    Without `batch_tokens`, 8,192 on a CPU and 65,536 on a GPU.
    """
    import torch

    threads = torch.get_num_threads()
    found = encoder(model, "passage", dtype, threads)
    if not isinstance(found, SentenceEncoder):
        raise SetupError(f"{model} is only one of a pair of encoders; give a sentence-transformers model")
    most = batch_tokens or (8192 if found.device == "cpu" else 65_536)
    return SentenceEmbedder(model, found.folder, found.dtype, threads, prompts, most)


class Vectors:
    """Unit-length embeddings in files of a folder; texts that are equal to the model are encoded once.

    Texts are encoded in blocks that depend only on the set of texts, so a resumed run gets the same embeddings.
    """

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._folder = folder / embedder.digest[:16]
        self._embedder = embedder
        self._kept: dict[tuple[Side, str], np.ndarray] = {}

    def fill(self, side: Side, texts: Mapping[str, Reading], advance: Callable[[int], None]) -> None:
        """Encodes texts, longest first; calls `advance` with the number of finished texts."""
        alike: dict[str, list[str]] = {}
        for text, reading in texts.items():
            alike.setdefault(reading.key, []).append(text)
        firsts = [min(found, key=lambda text: (len(text), text)) for found in alike.values()]
        ordered = sorted(firsts, key=lambda text: (-self._read(texts[text]), text))
        for start in range(0, len(ordered), BLOCK):
            block = ordered[start : start + BLOCK]
            vectors = self._block(side, block, self._read(texts[block[0]]))
            for text, vector in zip(block, unit(vectors), strict=True):
                self._kept |= {(side, one): vector for one in alike[texts[text].key]}
            advance(sum(len(alike[texts[text].key]) for text in block))

    def of(self, side: Side, texts: Iterable[str]) -> np.ndarray:
        """The embeddings of encoded texts, float64 of shape (texts, dimensions)."""
        return np.stack([self._kept[side, text] for text in texts])

    def _read(self, reading: Reading) -> int:
        limit = self._embedder.limit
        return reading.tokens if limit is None else min(reading.tokens, limit)

    def _block(self, side: Side, texts: Sequence[str], most_tokens: int) -> np.ndarray:
        path = self._folder / f"{side}-{digest_of(list(texts))}.arrow"
        if not path.is_file():
            with replacing(path) as partial:
                write_vectors(partial, self._embedder.encode(side, texts, most_tokens))
        return read_vectors(path)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Embeddings scaled to unit length, in float64; zero vectors stay zero."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)
