"""What a retriever is, and the one table that all of them give."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.schema import RUN

DECIMALS = 4  # neural scores differ beyond that between machines


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
    """A retriever is one class in one file with one line in `builders.retrieve.RETRIEVERS`.

    `level` says what `spec.k` counts: passages, or pages whose passages all come with their page's score.
    """

    level: Literal["passage", "page"]

    def index(self, context: Context, folder: Path) -> None:
        """Writes its index into `folder`, which is there and empty."""

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterable[list[Hit]]:
        """The hits for each query, in the order of the queries; a query it can do nothing with has none."""

    def identity(self, context: Context) -> dict[str, str]:
        """What its scores depend on besides its settings: library versions, model files' digests, number type."""


def run_table(corpus: Corpus, queries: Sequence[Query], hits: Iterable[list[Hit]], k: int | None) -> pa.Table:
    """The run of a retriever (schema.RUN): scores rounded, order (-score, corpus order), rank 1 best, at most k each."""
    columns: dict[str, list] = {name: [] for name in ("qid", "row", "score", "rank")}
    for query, found in zip(queries, hits, strict=True):
        ranked = ranked_hits(found)[:k]
        columns["qid"] += [query.qid] * len(ranked)
        columns["row"] += [hit.row for hit in ranked]
        columns["score"] += [hit.score for hit in ranked]
        columns["rank"] += range(1, len(ranked) + 1)
    columns["pid"] = corpus.pids(columns["row"])
    return pa.table([columns[name] for name in RUN.names], schema=RUN)


def ranked_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Hits with rounded scores, best first, ties in corpus order; a passage found twice keeps its best score."""
    rows = np.array([hit.row for hit in hits], dtype=np.int64)
    scores = np.round(np.array([hit.score for hit in hits], dtype=np.float64), DECIMALS)
    order = np.lexsort((rows, -scores))
    _, first = np.unique(rows[order], return_index=True)
    return [Hit(int(rows[order[at]]), float(scores[order[at]])) for at in np.sort(first)]


def page_hits(corpus: Corpus, pages: Sequence[tuple[int, float]]) -> list[Hit]:
    """The passages of pages found by a document-level retriever, each with its page's score."""
    return [Hit(row, score) for number, score in pages for row in corpus.rows_of_page_number(number)]
