"""What a retriever is, and the one table that all of them give."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.errors import SetupError
from builders.schema import RUN

Level = Literal["passage", "page"]

DECIMALS = 4  # neural scores differ beyond that between machines
_BLOCK = 64  # queries a thread takes at a time

_log = logging.getLogger(__name__)


class Query(NamedTuple):
    """What is looked for: the question and, where it is text, its canonical answer (paper, section 3.2)."""

    qid: str
    text: str


class Hit(NamedTuple):
    """A passage found for a query; `row` is its number in corpus order."""

    row: int
    score: float


class Context(NamedTuple):
    """Where a retriever works: its settings, the corpus, a cache shared by recipes, and how many threads to use."""

    spec: RetrieverSpec
    corpus: Corpus
    cache: Path
    threads: int
    tick: Callable[[int, int], None]


class Retriever(Protocol):
    """A retriever is one class in one file with one line in `builders.retrieve.RETRIEVERS`, or an entry point.

    `says` is what the card calls it. `level` is what `spec.k` counts: passages, or pages whose passages all come with
    their page's score. `neural`: its scores may be rounded differently on other hardware.
    """

    says: str
    level: Level
    neural: bool

    def index(self, context: Context, folder: Path) -> None:
        """Writes its index into `folder`, which is there and empty."""

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterable[list[Hit]]:
        """The hits for each query, in the order of the queries; a query it can do nothing with has none."""

    def identity(self, spec: RetrieverSpec) -> dict[str, str]:
        """What its scores depend on besides its settings: library versions, digests of model files, dtype.

        SetupError where it could not run here, so that a build stops before it has begun.
        """


def about(kind: type[Retriever]) -> dict[str, Any]:
    """What a manifest says of a retriever besides what its scores depend on."""
    return {"says": kind.says, "level": kind.level, "neural": kind.neural}


def checked_options(spec: RetrieverSpec, known: Sequence[str] = ()) -> dict[str, float | int | str]:
    """A retriever's own options; SetupError for one that it does not have."""
    if unknown := sorted(set(spec.options) - set(known)):
        raise SetupError(f"a {spec.kind} retriever has no option {unknown[0]}; it has {', '.join(known) or 'none'}")
    return spec.options


def run_table(corpus: Corpus, queries: Sequence[Query], hits: Iterable[list[Hit]], k: int | None) -> pa.Table:
    """A retriever's run (schema.RUN): scores rounded, order (-score, corpus order), rank 1 best, at most k each."""
    columns: dict[str, list] = {name: [] for name in ("qid", "row", "score", "rank")}
    for query, found in zip(queries, hits, strict=True):
        ranked = ranked_hits(found)[:k]
        if not ranked:
            _log.info("nothing found for query %s", query.qid)
        columns["qid"] += [query.qid] * len(ranked)
        columns["row"] += [hit.row for hit in ranked]
        columns["score"] += [hit.score for hit in ranked]
        columns["rank"] += range(1, len(ranked) + 1)
    columns["pid"] = corpus.pids(columns["row"])
    return pa.table([columns[name] for name in RUN.names], schema=RUN)


def ranked_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Hits with rounded scores, best first, ties in corpus order; a passage found twice keeps its best score.

    SetupError for a score that is not finite.
    """
    rows = np.array([hit.row for hit in hits], dtype=np.int64)
    for hit in hits:
        if not isfinite(hit.score):
            raise SetupError(f"the score of passage {hit.row} in corpus order is {hit.score}; wanted a finite number")
    scores = np.round(np.array([hit.score for hit in hits], dtype=np.float64), DECIMALS)
    order = np.lexsort((rows, -scores))
    _, first = np.unique(rows[order], return_index=True)
    return [Hit(int(rows[order[at]]), float(scores[order[at]])) for at in np.sort(first)]


def page_hits(corpus: Corpus, pages: Sequence[tuple[int, float]]) -> list[Hit]:
    """The passages of pages found by a document-level retriever, each with its page's score."""
    return [Hit(row, score) for number, score in pages for row in corpus.rows_of_page_number(number)]


def searchable(batch: pa.RecordBatch) -> pa.Array:
    """The text of each passage that retrievers look in: title, space, text, in NFC as queries are."""
    text = batch.column("text")
    joined = pc.binary_join_element_wise(batch.column("title").cast(text.type), text, pa.scalar(" ", text.type))
    return pc.utf8_normalize(joined, form="NFC")


def best(scores: np.ndarray, k: int, floor: float = -np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rounded scores of the k best of a row of scores above `floor`, ties to the smaller position."""
    at = np.flatnonzero(scores > floor)
    if len(at) > k:
        border = np.partition(scores[at], len(at) - k)[len(at) - k]
        at = at[scores[at] >= border - 10.0**-DECIMALS]  # what may round to the border's score
    rounded = np.round(scores[at].astype(np.float64), DECIMALS)
    order = np.lexsort((at, -rounded))[:k]
    return at[order], rounded[order]


def in_threads(
    find: Callable[[Sequence[Query]], list[list[Hit]]], queries: Sequence[Query], threads: int
) -> Iterator[list[Hit]]:
    """What `find` gives for all queries, a block at a time, in order; only the blocks in work are held in memory."""
    blocks = [queries[start : start + _BLOCK] for start in range(0, len(queries), _BLOCK)]
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(blocks), threads):
            for found in pool.map(find, blocks[first : first + threads]):
                yield from found
