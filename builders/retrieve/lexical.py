"""BM25 without Java: the bm25s library (Lù, 2024) over an index that is built a block of passages at a time."""

import json
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from builders.config import RetrieverSpec
from builders.retrieve.base import DECIMALS, Context, Hit, Level, Query, best, checked_options, searchable
from builders.retrieve.words import words_of

_AT_ONCE = 4096  # passages counted together
_BLOCK = 512  # queries scored together
_SPARE = 32  # hits fetched beyond k, to see whether a tie extends past rank k

Terms = Callable[[str], list[str]]


class Bm25s:
    """Passages by BM25 in Lucene's formula on Porter stems; options: k1 (0.9) and b (0.4)."""

    says = "BM25"
    level: Level = "passage"
    neural = False

    def index(self, context: Context, folder: Path) -> None:
        """Writes the library's index files: for each term its passages with their finished scores."""
        options = checked_options(context.spec, ("k1", "b"))
        k1, b = float(options.get("k1", 0.9)), float(options.get("b", 0.4))
        vocabulary: dict[str, int] = {}
        lengths, df = _count_blocks(context, folder, vocabulary)
        idf = np.log(1 + (len(lengths) - df + 0.5) / (df + 0.5))
        norms = k1 * (1 - b + b * lengths / max(lengths.mean(), 1.0)) if len(lengths) else lengths
        _write_scores(folder, idf, norms, df)
        (folder / "vocabulary.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterator[list[Hit]]:
        """The k best passages for each query, ties in corpus order."""
        index, terms = _opened(folder, len(context.corpus)), lucene_terms()
        for start in range(0, len(queries), _BLOCK):
            asked = [[t for t in terms(q.text) if t in index.vocab_dict] for q in queries[start : start + _BLOCK]]
            found = _top(index, [words for words in asked if words], context.spec.k, context.threads)
            yield from (next(found) if words else [] for words in asked)

    def identity(self, spec: RetrieverSpec) -> dict[str, str]:
        """The versions of the library and of the stemmer."""
        return {name: version(name) for name in ("bm25s", "nltk")}


def lucene_terms() -> Terms:
    """What a text is looked up by: its words, without Lucene's English stop words, stemmed as Lucene does."""
    from bm25s.stopwords import STOPWORDS_EN
    from nltk.stem.porter import PorterStemmer

    stop_words, stem = frozenset(STOPWORDS_EN), PorterStemmer(PorterStemmer.MARTIN_EXTENSIONS).stem
    stems: dict[str, str] = {}

    def terms(text: str) -> list[str]:
        words = [word for word in words_of(text) if word not in stop_words]
        for word in words:
            if word not in stems:
                stems[word] = stem(word)
        return [stems[word] for word in words]

    return terms


def _count_blocks(context: Context, folder: Path, vocabulary: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Writes term counts of each block of passages, fills the vocabulary, and returns passage lengths and df."""
    terms, lengths, df = lucene_terms(), np.zeros(len(context.corpus)), np.zeros(0)
    for first, texts in _blocks(context):
        found = [terms(text) for text in texts]
        lengths[first : first + len(texts)] = [len(words) for words in found]
        ids = np.array([vocabulary.setdefault(t, len(vocabulary)) for words in found for t in words], dtype=np.int64)
        passages = np.repeat(np.arange(len(texts)), [len(words) for words in found])
        pairs, counts = np.unique(ids * len(texts) + passages, return_counts=True)
        ids, passages = np.divmod(pairs, len(texts))
        np.save(folder / f"{first:012}.counts.npy", np.stack((ids, first + passages, counts)))
        df = np.pad(df, (0, len(vocabulary) - len(df))) + np.bincount(ids, minlength=len(vocabulary))
        context.tick(first + len(texts), len(context.corpus))
    return lengths, df


def _blocks(context: Context) -> Iterator[tuple[int, list[str]]]:
    for start, batch in context.corpus.batches():
        for at in range(0, batch.num_rows, _AT_ONCE):
            yield start + at, searchable(batch.slice(at, _AT_ONCE)).to_pylist()


def _write_scores(folder: Path, idf: np.ndarray, norms: np.ndarray, df: np.ndarray) -> None:
    """Turns the blocks into one matrix on disk, term by term: score = idf * tf / (tf + k1 (1 - b + b dl / avgdl))."""
    ends = np.append(0, np.cumsum(df)).astype(np.int64)
    np.save(folder / "indptr.csc.index.npy", ends)
    shape = (int(ends[-1]),)
    data = np.lib.format.open_memmap(folder / "data.csc.index.npy", "w+", np.float32, shape)
    rows = np.lib.format.open_memmap(folder / "indices.csc.index.npy", "w+", np.int32, shape)
    free = ends[:-1].copy()
    for path in sorted(folder.glob("*.counts.npy")):
        ids, passages, counts = np.load(path)
        present, first, of_term = np.unique(ids, return_index=True, return_counts=True)
        at = np.repeat(free[present] - first, of_term) + np.arange(len(ids))
        data[at] = idf[ids] * counts / (counts + norms[passages])
        rows[at] = passages
        free[present] += of_term
        path.unlink()


def _opened(folder: Path, n_passages: int) -> Any:
    """The library's index on memory-mapped files."""
    from bm25s import BM25

    index = BM25(method="lucene", backend="numba")
    index.load_scores(folder, num_docs=n_passages, mmap=True)
    index.vocab_dict = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    index.nonoccurrence_array = None
    index.activate_numba_scorer()
    return index


def _top(index: Any, asked: list[list[str]], k: int, threads: int) -> Iterator[list[Hit]]:
    """The k best passages for each query; where a tie may go on past what was fetched, all scores are looked at."""
    n_passages = index.scores["num_docs"]
    fetched = min(k + _SPARE, n_passages)
    if not asked:
        return
    rows, scores = index.retrieve(asked, k=fetched, n_threads=threads, show_progress=False)
    for words, at, score in zip(asked, rows, np.round(scores.astype(np.float64), DECIMALS), strict=True):
        order = np.lexsort((at, -score))[:k]
        if fetched < n_passages and score[order[-1]] == score.min() > 0:
            at, score = best(index.get_scores(words), k, floor=0.0)
            order = np.arange(len(at))
        yield [Hit(int(at[i]), float(score[i])) for i in order if score[i] > 0]
