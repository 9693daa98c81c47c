"""Dense retrieval: passages and queries as vectors, searched exactly by inner product."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import accumulate, chain
from pathlib import Path

import numpy as np

from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.errors import SetupError
from builders.files import link_or_copy
from builders.retrieve.base import DECIMALS, Context, Hit, Level, Query, best, checked_options
from builders.retrieve.embeddings import Embeddings, Stream, read_vectors
from builders.retrieve.encoders import Encoder, encoder
from builders.retrieve.words import has_content

_AT_ONCE = 2048  # queries that share one pass over all vectors
_FILES = 64  # files of vectors that are searched together
_SPARE = 32  # vectors fetched beyond k, to see whether a tie extends past rank k


class Dense:
    """Passages by the inner product of vectors: DPR (with `query_model`), Contriever, or a sentence-transformer."""

    says = "dense, by exact search"
    level: Level = "passage"
    neural = True

    def index(self, context: Context, folder: Path) -> None:
        """Encodes the corpus through the shared cache; the folder's files are links to the cache's where it can be."""
        link_vectors(context, folder, ("first", "other"))

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterator[list[Hit]]:
        """The k passages with the largest inner product for each query, exactly, ties in corpus order."""
        vectors = Vectors(folder, context.corpus)
        encoder_of_queries = query_encoder(context.spec)
        of_query = encoder_of_queries.encode_distinct(q.text for q in queries if has_content(q.text))
        for start in range(0, len(queries), _AT_ONCE):
            some = queries[start : start + _AT_ONCE]
            asked = [i for i, query in enumerate(some) if query.text in of_query]
            found: list[list[Hit]] = [[] for _ in some]
            if asked:
                nearest = vectors.nearest(np.stack([of_query[some[i].text] for i in asked]), context.spec.k)
                for i, hits in zip(asked, nearest, strict=True):
                    found[i] = hits
            yield from found

    def identity(self, spec: RetrieverSpec) -> dict[str, str]:
        """Library versions, the digests of both encoders, and the dtype."""
        return model_identity(spec)


def passage_encoder(spec: RetrieverSpec) -> Encoder:
    """The encoder of passages that the recipe names; torch computes with one thread, since more may round otherwise."""
    checked_options(spec)
    if not spec.model:
        raise SetupError(f"a {spec.kind} retriever needs a model; set model to bundled:minilm, a folder or a Hub id")
    return encoder(spec.model, "passage", spec.dtype, 1)


def query_encoder(spec: RetrieverSpec) -> Encoder:
    """The encoder of queries: `query_model` where there is one, else the same model."""
    return encoder(spec.query_model or spec.model or "", "query", spec.dtype, 1)


def model_identity(spec: RetrieverSpec) -> dict[str, str]:
    """What vectors depend on: library versions, the digests of both encoders, and the dtype."""
    passage, query = passage_encoder(spec), query_encoder(spec)
    libraries = {name: version(name).partition("+")[0] for name in ("sentence-transformers", "torch", "transformers")}
    return libraries | {"model": passage.digest, "query_model": query.digest, "dtype": passage.dtype}


def link_vectors(context: Context, folder: Path, streams: Sequence[Stream]) -> None:
    """Puts the streams' vectors into a folder as `{n}.arrow`, and the rows of them as `rows.bin` (int64)."""
    encoder = passage_encoder(context.spec)
    embeddings = Embeddings(context.cache, encoder, context.threads if encoder.device == "cpu" else 1)
    total = len(context.corpus) if "other" in streams else context.corpus.n_pages
    done = 0
    with (folder / "rows.bin").open("wb") as rows:
        batches = chain.from_iterable(embeddings.batches(context.corpus, stream) for stream in streams)
        for n, batch in enumerate(batches):
            link_or_copy(batch.path, folder / f"{n:07}.arrow")
            rows.write(batch.rows.astype("<i8").tobytes())
            done += len(batch.rows)
            context.tick(done, total)


class Vectors:
    """The vectors in a folder filled by `link_vectors`, as memory maps; `corpus` names passages in errors."""

    def __init__(self, folder: Path, corpus: Corpus | None = None) -> None:
        self._corpus = corpus
        self._files = sorted(folder.glob("*.arrow"))
        self._open = lru_cache(maxsize=1024)(read_vectors)
        self._starts = list(accumulate((len(read_vectors(path)) for path in self._files), initial=0))
        self._rows = np.memmap(folder / "rows.bin", "<i8", "r") if self._files else np.empty(0, np.int64)

    def nearest(self, queries: np.ndarray, k: int) -> Iterator[list[Hit]]:
        """The k best rows for each query vector by rounded score, merged from one group of files after another.

        SetupError where a vector, or an inner product of two, is not finite.
        """
        if not np.isfinite(queries).all():
            raise SetupError("the vector of a query has NaN or infinity; use dtype float32 or another query_model")
        scores, found = np.empty((len(queries), 0)), np.empty((len(queries), 0), dtype=np.int64)
        for rows, vectors in self._groups():
            if vectors.shape[1] != queries.shape[1]:
                raise SetupError(
                    f"query_model gives vectors of {queries.shape[1]} numbers and model gives {vectors.shape[1]}; "
                    "name the two halves of one pair"
                )
            self._check(rows, vectors)
            new_scores, at = _nearest_in(queries, vectors, k)
            scores = np.concatenate((scores, new_scores), axis=1)
            found = np.concatenate((found, rows[at]), axis=1)
            order = np.lexsort((found, -scores), axis=1)[:, :k]
            scores, found = np.take_along_axis(scores, order, 1), np.take_along_axis(found, order, 1)
        for row_list, score_list in zip(found.tolist(), scores.tolist(), strict=True):
            yield [Hit(row, score) for row, score in zip(row_list, score_list, strict=True)]

    def _check(self, rows: np.ndarray, vectors: np.ndarray) -> None:
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            row = int(rows[bad[0]])
            name = self._corpus.pids([row])[0] if self._corpus else f"in row {row}"
            raise SetupError(
                f"the vector of passage {name} has NaN or infinity; delete cache/embeddings in the work folder, "
                "and use dtype float32 or another model"
            )

    def at(self, row: int) -> np.ndarray:
        """The vector of a row, for a folder of one stream, whose rows ascend."""
        position = int(np.searchsorted(self._rows, row))
        file = bisect_right(self._starts, position) - 1
        return np.array(self._open(self._files[file])[position - self._starts[file]])

    def _groups(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows, ascending, and their vectors, a group of files at a time."""
        for i in range(0, len(self._files), _FILES):
            vectors = np.concatenate([read_vectors(path) for path in self._files[i : i + _FILES]])
            rows = self._rows[self._starts[i] : self._starts[i] + len(vectors)]
            order = np.argsort(rows)  # a group may hold the end of one stream and the beginning of the next
            yield rows[order], vectors[order]


def _nearest_in(queries: np.ndarray, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rounded scores and positions of the k best vectors; where a tie may go on past the border, by all scores."""
    import faiss

    k = min(k, len(vectors))
    fetched = min(k + _SPARE, len(vectors))
    products, at = faiss.knn(queries, vectors, fetched, faiss.METRIC_INNER_PRODUCT)
    if not np.isfinite(products).all() or at.min(initial=0) < 0:
        raise SetupError("an inner product of two vectors is not finite; use another model")
    scores = np.round(products.astype(np.float64), DECIMALS)
    order = np.lexsort((at, -scores), axis=1)[:, :k]
    last = scores.min(axis=1)
    scores, at = np.take_along_axis(scores, order, 1), np.take_along_axis(at, order, 1)
    for i in np.flatnonzero(scores[:, -1] == last) if fetched < len(vectors) else ():
        at[i], scores[i] = best(vectors @ queries[i], k)
    return scores, at
