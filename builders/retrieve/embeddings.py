"""Vectors of a corpus, encoded in fixed batches and kept by the digest of what they were made of."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.corpus import Corpus
from builders.files import read_table, replacing, write_table
from builders.retrieve.encoders import Encoder, Text

BATCH = 1024  # passages in a file; whatever the number of threads or of passages in a part

Stream = Literal["first", "other"]


class Batch(NamedTuple):
    """Some passages: their rows, and the file with their vectors in the same order."""

    rows: np.ndarray
    path: Path


class Embeddings:
    """Files of vectors under `cache/embeddings/{encoder}/{texts}.arrow`, shared by all recipes and retrievers.

    A page's first passage and its other passages go into separate batches (two streams). So what asks for whole
    pages encodes the first stream alone, and finds it encoded when another retriever has had the same encoder:
    which of them came first changes no vector.
    """

    def __init__(self, cache: Path, encoder: Encoder) -> None:
        self._folder = cache / "embeddings" / encoder.digest[:16]
        self._encoder = encoder

    def batches(self, corpus: Corpus, stream: Stream) -> Iterator[Batch]:
        """All batches of a stream in corpus order; what is not there yet is encoded and written whole."""
        for start, part in corpus.batches():
            at = np.flatnonzero(_is_first(part) == (stream == "first"))
            for i in range(0, len(at), BATCH):
                yield self._batch(part, start, at[i : i + BATCH])

    def _batch(self, part: pa.RecordBatch, start: int, at: np.ndarray) -> Batch:
        texts = [
            Text(title, body)
            for title, body in zip(
                *(part.column(name).take(pa.array(at)).to_pylist() for name in ("title", "text")), strict=True
            )
        ]
        path = self._folder / f"{_digest(texts)}.arrow"
        if not path.is_file():
            vectors = self._encoder.encode(texts)
            with replacing(path) as partial:
                write_vectors(partial, vectors)
        return Batch(start + at, path)


def write_vectors(path: Path, vectors: np.ndarray) -> None:
    """Writes vectors (n, dimensions) as one Arrow file with a column of fixed-size lists of float32."""
    numbers = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    write_table(path, pa.table({"vector": pa.FixedSizeListArray.from_arrays(numbers, vectors.shape[1])}))


def read_vectors(path: Path) -> np.ndarray:
    """The vectors of a file, float32 of shape (n, dimensions), as a memory map."""
    column = read_table(path).column("vector").chunk(0)
    return column.flatten().to_numpy(zero_copy_only=True).reshape(len(column), column.type.list_size)


def _is_first(part: pa.RecordBatch) -> np.ndarray:
    """For each passage of a part whether it is the first of its page."""
    pages = part.column("page_id")
    first = np.ones(len(pages), dtype=bool)
    if len(pages) > 1:
        first[1:] = pc.not_equal(pages[1:], pages[:-1]).to_numpy(zero_copy_only=False)
    return first


def _digest(texts: Sequence[Text]) -> str:
    return sha256("".join(f"{text.title}\x1f{text.body}\x1e" for text in texts).encode()).hexdigest()
