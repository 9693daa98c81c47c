"""Rankings of one context's passages for its query, best first; ties keep the order of the context."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from builders.retrieve.base import DECIMALS
from builders.retrieve.encoders import Encoder, Text, checked_vectors, encoder
from builders.retrieve.fuse import rrf
from builders.retrieve.lexical import lucene_terms
from eval_harness.data.dataset import Passage

Ranker = Literal["bm25", "dense", "hybrid"]

RANKERS: tuple[Ranker, ...] = ("bm25", "dense", "hybrid")
K1, B = 0.9, 0.4
ENCODER = "bundled:minilm"
_LIBRARIES = {
    "bm25": ("bm25s", "nltk"),  # stop words and stemmer
    "dense": ("sentence-transformers", "torch", "transformers"),
}


class Retrieval:
    """Ranks passages for a query, without its answer, by BM25, by an encoder's inner product, or by a fusion of both.

    An embedding depends on its text alone: each text is encoded once, by itself, in float32.
    """

    def __init__(self, model: str = ENCODER) -> None:
        self.model = model
        self._vectors: dict[tuple[str, Text], np.ndarray] = {}

    def ranked(self, ranker: Ranker, query: str, passages: Sequence[Passage]) -> list[int]:
        """Positions of all passages, best first; `hybrid` is the reciprocal rank fusion of the other two."""
        if ranker == "bm25":
            return _order(bm25_scores(query, passages, self._terms))
        if ranker == "dense":
            return _order(self._similarities(query, passages))
        runs = [self.ranked(one, query, passages) for one in ("bm25", "dense")]
        # Fusion breaks ties by id; these ids sort in the order of the context.
        return [int(id) for id in rrf([[f"{position:09}" for position in run] for run in runs])]

    def describe(self, rankers: Sequence[Ranker]) -> dict[str, Any]:
        """What the rankings depend on, for a run's record."""
        parts = {part for ranker in rankers for part in (("bm25", "dense") if ranker == "hybrid" else (ranker,))}
        found: dict[str, Any] = {
            "versions": {name: version(name) for part in sorted(parts) for name in _LIBRARIES[part]}
        }
        if "bm25" in parts:
            found["bm25"] = {"k1": K1, "b": B}
        if "dense" in parts:
            passage, query = self._passage_encoder, self._query_encoder
            found["dense"] = {"model": self.model, "passage_digest": passage.digest, "query_digest": query.digest}
        return found

    def _similarities(self, query: str, passages: Sequence[Passage]) -> np.ndarray:
        vectors = [self._vector(self._passage_encoder, Text(passage.title, passage.text)) for passage in passages]
        return np.stack(vectors) @ self._vector(self._query_encoder, Text("", query))

    def _vector(self, of: Encoder, text: Text) -> np.ndarray:
        key = (of.side, text)
        if key not in self._vectors:
            self._vectors[key] = checked_vectors(of.encode([text]), [text.joined()], self.model)[0]
        return self._vectors[key]

    @cached_property
    def _terms(self) -> Callable[[str], list[str]]:
        return lucene_terms()

    @cached_property
    def _passage_encoder(self) -> Encoder:
        return self._encoder("passage")

    @cached_property
    def _query_encoder(self) -> Encoder:
        return self._encoder("query")

    def _encoder(self, side: str) -> Encoder:
        import torch

        # An encoder sets torch's number of threads, for the whole process; keep it.
        return encoder(self.model, side, "float32", torch.get_num_threads())


def bm25_scores(query: str, passages: Sequence[Passage], terms: Callable[[str], list[str]]) -> np.ndarray:
    """BM25 in Lucene's formula, with statistics of these passages alone; repeated query terms count each time.

    score = sum over terms of ln(1 + (n - df + 0.5) / (df + 0.5)) * tf / (tf + k1 (1 - b + b length / mean length)).
    """
    counts = [Counter(terms(f"{passage.title} {passage.text}")) for passage in passages]
    lengths = np.array([found.total() for found in counts], dtype=np.float64)
    norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
    scores = np.zeros(len(passages))
    for term in terms(query):
        tf = np.array([found[term] for found in counts], dtype=np.float64)
        df = np.count_nonzero(tf)
        scores += np.log(1 + (len(passages) - df + 0.5) / (df + 0.5)) * tf / (tf + norms)
    return scores


def _order(scores: np.ndarray) -> list[int]:
    return [int(at) for at in np.argsort(-np.round(scores.astype(np.float64), DECIMALS), kind="stable")]
