"""Vectors of a corpus, encoded in fixed batches and kept by the digest of what they were made of."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import local
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.corpus import Corpus
from builders.files import read_table, replacing, write_table
from builders.retrieve.encoders import Encoder, Text, checked_vectors
from builders.text import composed

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

    Each batch is encoded by one thread, and `workers` of them encode batches at a time, each with a model of its own.
    """

    def __init__(self, cache: Path, encoder: Encoder, workers: int = 1) -> None:
        self._folder = cache / "embeddings" / encoder.digest[:16]
        self._encoder, self._workers = encoder, workers
        self._own = local()

    def batches(self, corpus: Corpus, stream: Stream) -> Iterator[Batch]:
        """All batches of a stream in corpus order; missing ones are encoded, and written whole."""
        pieces = (
            (part, start, at[i : i + BATCH])
            for start, part in corpus.batches()
            for at in (np.flatnonzero(_is_first(part) == (stream == "first")),)
            for i in range(0, len(at), BATCH)
        )
        if self._workers == 1:
            for piece in pieces:
                yield self._batch(*piece)
            return
        pool = ThreadPoolExecutor(self._workers)
        waiting: deque[Future[Batch]] = deque()
        try:
            for piece in pieces:
                waiting.append(pool.submit(self._batch, *piece))
                if len(waiting) > self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _batch(self, part: pa.RecordBatch, start: int, at: np.ndarray) -> Batch:
        pids, titles, bodies = (part.column(name).take(pa.array(at)).to_pylist() for name in ("pid", "title", "text"))
        texts = [Text(composed(title), composed(body)) for title, body in zip(titles, bodies, strict=True)]
        path = self._folder / f"{_digest(texts)}.arrow"
        if not path.is_file():
            vectors = self._of_this_thread().encode(texts)
            checked_vectors(vectors, [f"passage {pid}" for pid in pids], self._encoder.name)
            with replacing(path) as partial:
                write_vectors(partial, vectors)
        return Batch(start + at, path)

    def _of_this_thread(self) -> Encoder:
        if self._workers == 1:
            return self._encoder
        if not hasattr(self._own, "encoder"):
            self._own.encoder = self._encoder.twin()
        found: Encoder = self._own.encoder
        return found


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
