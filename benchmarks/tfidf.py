"""TF-IDF over pages, compared with the same weights in a plain scikit-learn pipeline."""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from benchmarks.inputs import corpus, queries
from benchmarks.report import Result
from benchmarks.timing import alternately
from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.retrieve.base import Context, Query
from builders.retrieve.tfidf import BUCKETS, TfIdf, idf, ngrams

QUERIES = 2000
K = 20
THREADS = 2
TOLERANCE = 1e-3  # of scores; float32 sums in another order
AT_ONCE = 128  # queries per dense score array of the peer
DRQA = "DrQA on 2 cores: 37 s to build, 1.6 s for 2,000 queries, measured by others"


def bench(folder: Path, work: Path) -> list[Result]:
    """Pages indexed and queries per second; both must find the same 20 best scores for each query."""
    passages, asked = corpus(folder, work / "corpus"), queries(folder, QUERIES)
    context = Context(RetrieverSpec(kind="tfidf", k=K), passages, work, THREADS, lambda done, total: None)
    index = work / "index"
    built, peer_built = alternately(lambda: _build(context, index), lambda: peer_index(passages))
    ours, peer = alternately(
        lambda: list(TfIdf().search(context, index, asked)), lambda: peer_search(peer_built.result, asked)
    )
    off = max(map(_off, (page_scores(passages, hits) for hits in ours.result), peer.result), default=0.0)
    times = (
        ("tfidf build", "pages/s", passages.n_pages, built.seconds, peer_built.seconds),
        ("tfidf search", "queries/s", len(asked), ours.seconds, peer.seconds),
    )
    notes = (f"the {K} best scores of each query differ by at most {off:.1e}", f"({DRQA})")
    return [
        Result(name, unit, n / mine, n / theirs, theirs / mine, "no slower", off <= TOLERANCE, "scikit-learn", notes)
        for (name, unit, n, mine, theirs), notes in zip(times, ((), notes), strict=True)
    ]


def _build(context: Context, index: Path) -> None:
    rmtree(index, ignore_errors=True)
    index.mkdir()
    TfIdf().index(context, index)


def page_scores(passages: Corpus, hits: Sequence[Any]) -> list[float]:
    """The score of each page found, best first, from the hits of its passages."""
    pages = {passages.passage(hit.row).page_id: hit.score for hit in hits}
    return sorted(pages.values(), reverse=True)


def _off(ours: list[float], peer: list[float]) -> float:
    """The largest difference of two lists of scores; infinite if their lengths differ."""
    if len(ours) != len(peer):
        return float("inf")
    return float(np.abs(np.subtract(ours, peer)).max(initial=0.0))


def peer_index(passages: Corpus) -> tuple[Any, np.ndarray]:
    """A matrix (BUCKETS, pages) of weights, and the idf of each bucket."""
    counts = _vectorizer().transform(page_texts(passages))
    weights = idf(np.bincount(counts.indices, minlength=BUCKETS), counts.shape[0]).astype(np.float32)
    counts.data = np.log1p(counts.data) * weights[counts.indices]
    return counts.T.tocsr(), weights


def peer_search(index: tuple[Any, np.ndarray], asked: Sequence[Query]) -> list[list[float]]:
    """The K best scores above 0 of each query, best first."""
    matrix, weights = index
    counts = _vectorizer().transform([query.text for query in asked])
    counts.data = np.log1p(counts.data) * weights[counts.indices]
    found: list[list[float]] = []
    for start in range(0, len(asked), AT_ONCE):
        scores = (counts[start : start + AT_ONCE] @ matrix).toarray()
        k = min(K, scores.shape[1])
        rows = np.arange(len(scores))[:, None]
        best = np.argpartition(scores, -k, axis=1)[:, -k:]
        found += [sorted(row[row > 0].tolist(), reverse=True) for row in scores[rows, best]]
    return found


def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer=ngrams, n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32)


def page_texts(passages: Corpus) -> list[str]:
    """The title and the passages of each page with passages."""
    texts: dict[str, list[str]] = {}
    for _, batch in passages.batches():
        columns = (batch.column(name).to_pylist() for name in ("page_id", "title", "text"))
        for page_id, title, text in zip(*columns, strict=True):
            texts.setdefault(page_id, [f"{title}\n"]).append(text)
    return [title + " ".join(parts) for title, *parts in texts.values()]
