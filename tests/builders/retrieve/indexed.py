"""An indexed retriever over hand-written pages."""

from pathlib import Path
from typing import Any, NamedTuple

from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import Context, Hit, Query, Retriever
from builders.schema import Page
from tests.builders.small_corpus import page, small_corpus


class Indexed(NamedTuple):
    """A retriever with its finished index."""

    retriever: Retriever
    context: Context
    folder: Path

    def hits(self, *texts: str) -> list[list[Hit]]:
        """What is found for each text."""
        queries = [Query(f"q{n}", text) for n, text in enumerate(texts)]
        return list(self.retriever.search(self.context, self.folder, queries))

    def rows(self, text: str) -> list[int]:
        """The rows found for a text."""
        return [hit.row for hit in self.hits(text)[0]]


def indexed(tmp_path: Path, pages: list[Page], kind: str, threads: int = 1, words: int = 100, **spec: Any) -> Indexed:
    """A retriever of a kind over the corpus of some pages."""
    return over(small_corpus(tmp_path, pages, words), tmp_path, kind, threads, **spec)


def over(corpus: Corpus, tmp_path: Path, kind: str, threads: int = 1, **spec: Any) -> Indexed:
    """A retriever of a kind over a corpus; its index lies beside the others of this folder."""
    folder = tmp_path / f"index{len(list(tmp_path.glob('index*')))}"
    folder.mkdir()
    context = Context(RetrieverSpec(kind=kind, **spec), corpus, tmp_path / "cache", threads, lambda done, total: None)
    retriever = RETRIEVERS[kind]()
    retriever.index(context, folder)
    return Indexed(retriever, context, folder)


def texts(*bodies: str) -> list[Page]:
    """Pages of one passage each, with a title that no query has."""
    return [page(str(n), "Xx", body) for n, body in enumerate(bodies)]
