"""TF-IDF over pages with hashed words and word pairs: DrQA's document retriever (Chen et al., 2017, section 3.1)."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from itertools import groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.retrieve.base import Context, Hit, Level, Query, best, checked_options, in_threads, page_hits
from builders.retrieve.words import STOP_WORDS, word_pattern
from builders.text import composed

BUCKETS = 2**24
FEW_PAGES = 50  # where there are fewer, idf is at least LEAST_IDF: a corpus of two pages would give no hits
LEAST_IDF = 0.1

_AT_ONCE = 2048  # pages counted together
_SHARD = 2**23  # pairs of bucket and page after which a shard is full


class TfIdf:
    """Pages by the inner product of TF-IDF weights, log(1 + tf) * idf on both sides."""

    says = "TF-IDF of uni- and bigrams, weighted as DrQA does"
    level: Level = "page"
    neural = False

    def index(self, context: Context, folder: Path) -> None:
        """Writes shards of consecutive pages and, for all of them, the number of pages of each bucket (`df.npy`)."""
        checked_options(context.spec)
        df = np.zeros(BUCKETS, dtype=np.int32)
        for n, (numbers, counts) in enumerate(_shards(context)):
            df += np.bincount(counts.indices, minlength=BUCKETS).astype(np.int32)
            if counts.nnz:
                _write_shard(folder / f"{n:05}", numbers, counts)
        np.save(folder / "df.npy", df)

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterator[list[Hit]]:
        """The passages of the k best pages for each query, ties in corpus order."""
        return in_threads(_Searcher(context, folder).all_hits, queries, context.threads)

    def identity(self, spec: RetrieverSpec) -> dict[str, str]:
        """The library that hashes."""
        return {"scikit-learn": version("scikit-learn")}


class _Searcher:
    """Opened shards, each a matrix of (buckets that occur, pages) on memory-mapped arrays."""

    def __init__(self, context: Context, folder: Path) -> None:
        self._corpus, self._k = context.corpus, context.spec.k
        self._df = np.load(folder / "df.npy", mmap_mode="r")
        self._shards = [_read_shard(path) for path in sorted(folder.glob("[0-9]*"))]

    def all_hits(self, queries: Sequence[Query]) -> list[list[Hit]]:
        """The passages of the k best pages for each query."""
        asked = _counts([query.text for query in queries])
        # A page's weight is log(1 + tf) * idf; its idf is multiplied in here, on the smaller side.
        asked.data = np.log1p(asked.data) * (idf(self._df[asked.indices], self._corpus.n_pages) ** 2).astype(np.float32)
        pages: list[list[tuple[int, float]]] = [[] for _ in queries]
        for numbers, buckets, matrix in self._shards:
            for found, more in zip(pages, _best_pages(asked, numbers, buckets, matrix, self._k), strict=True):
                found += more
        ordered = (sorted(found, key=lambda page: (-page[1], page[0]))[: self._k] for found in pages)
        return [page_hits(self._corpus, found) for found in ordered]


def ngrams(text: str) -> list[str]:
    """Lower-case words, and pairs of neighbouring words.

    One that begins or ends with a stop word or a punctuation mark is left out, so that no pair crosses a comma.
    """
    tokens = _tokens().findall(composed(text.lower()).replace("_", " _ "))
    kept = [token if token[0].isalnum() and token not in STOP_WORDS else "" for token in tokens]
    return [word for word in kept if word] + [f"{a} {b}" for a, b in pairwise(kept) if a and b]


@cache
def _tokens() -> re.Pattern[str]:
    return re.compile(rf"_|{word_pattern()}|[^\s\w]")


def idf(df: np.ndarray, n_pages: int) -> np.ndarray:
    """log((N - df + 0.5) / (df + 0.5)), at least 0, as in DrQA; below FEW_PAGES pages at least LEAST_IDF."""
    return np.maximum(np.log((n_pages - df + 0.5) / (df + 0.5)), LEAST_IDF if n_pages < FEW_PAGES else 0.0)


def _counts(texts: Sequence[str]) -> Any:
    """Counts of the n-grams of each bucket in each text: a CSR matrix (texts, BUCKETS), float32."""
    from sklearn.feature_extraction.text import HashingVectorizer

    hashed = HashingVectorizer(analyzer=ngrams, n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32)
    return hashed.transform(texts)


def _shards(context: Context) -> Iterator[tuple[np.ndarray, Any]]:
    """Page numbers and their counts, cut into shards that fit in memory."""
    from scipy.sparse import vstack

    numbers: list[int] = []
    blocks: list[Any] = []
    texts = _page_texts(context.corpus)
    while some := list(islice(texts, _AT_ONCE)):
        numbers += [number for number, _ in some]
        blocks.append(_counts([text for _, text in some]))
        context.tick(numbers[-1] + 1, context.corpus.n_pages)
        if sum(block.nnz for block in blocks) >= _SHARD:
            yield np.array(numbers), vstack(blocks, format="csr")
            numbers, blocks = [], []
    if blocks:
        yield np.array(numbers), vstack(blocks, format="csr")


def _page_texts(corpus: Corpus) -> Iterator[tuple[int, str]]:
    """Each page's number and text: its title and its passages, which have neither headings nor markers."""
    for start, batch in corpus.batches():
        numbers = corpus.page_numbers(np.arange(start, start + batch.num_rows)).tolist()
        rows = zip(numbers, *(batch.column(name).to_pylist() for name in ("title", "text")), strict=True)
        for number, passages in groupby(rows, key=itemgetter(0)):
            _, titles, texts = zip(*passages, strict=True)
            yield number, f"{titles[0]}\n" + " ".join(texts)


def _write_shard(folder: Path, numbers: np.ndarray, counts: Any) -> None:
    """Writes a shard inverted: for each bucket that occurs, the pages with it and their log(1 + tf)."""
    inverted = counts.tocsc()
    lengths = np.diff(inverted.indptr)
    buckets = np.flatnonzero(lengths)
    folder.mkdir()
    np.save(folder / "numbers.npy", numbers)
    np.save(folder / "buckets.npy", buckets.astype(np.int32))
    np.save(folder / "starts.npy", np.append(0, np.cumsum(lengths[buckets])).astype(np.int32))
    np.save(folder / "pages.npy", inverted.indices)
    np.save(folder / "weights.npy", np.log1p(inverted.data))


def _read_shard(folder: Path) -> tuple[np.ndarray, np.ndarray, Any]:
    from scipy.sparse import csr_matrix

    names = ("numbers", "buckets", "starts", "pages", "weights")
    numbers, buckets, starts, pages, weights = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in names)
    return numbers, buckets, csr_matrix((weights, pages, starts), shape=(len(buckets), len(numbers)), copy=False)


def _best_pages(
    asked: Any, numbers: np.ndarray, buckets: np.ndarray, matrix: Any, k: int
) -> Iterator[list[tuple[int, float]]]:
    """For each query the k best pages of one shard with their rounded scores."""
    from scipy.sparse import csr_matrix

    at = np.minimum(np.searchsorted(buckets, asked.indices), len(buckets) - 1)
    there = buckets[at] == asked.indices
    starts = np.append(0, np.cumsum(there))[asked.indptr]
    scores = csr_matrix((asked.data[there], at[there], starts), shape=(asked.shape[0], len(buckets))) @ matrix
    scores.sort_indices()
    for start, end in pairwise(scores.indptr.tolist()):
        found, rounded = best(scores.data[start:end], k, floor=0.0)
        yield list(zip(numbers[scores.indices[start:end][found]].tolist(), rounded.tolist(), strict=True))
