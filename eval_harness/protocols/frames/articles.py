"""Whole articles and BM25 over them: the builder's retrievers on a corpus with one passage per article."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from builders.bundled import cache_folder
from builders.chunk import chunk_page
from builders.config import RetrieverSpec, Source, digest_of
from builders.corpus import Corpus, write_page_index
from builders.engine import progress_bars
from builders.errors import SetupError
from builders.files import replacing, write_table
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import Context, Query, Retriever, ranked_hits
from builders.schema import PAGES, PASSAGES
from builders.sources import PAGE_READERS
from builders.sources.fetch import digest_of_file, fetch
from eval_harness.data.dataset import Dataset, Instance, Passage, load_instances

CHUNK_WORDS = 100
_CODE = 1  # changes with the format of an index
_PART = 4096  # articles per file
_REMEMBERED = 100_000  # queries in the cache
_SOURCE = re.compile(r"(?P<reader>[a-z0-9_]+)=(?P<path>.+)")

_log = logging.getLogger(__name__)


class Article(NamedTuple):
    """An article, identified by its page id; `text` has one line per passage."""

    id: str
    title: str
    text: str


class Articles:
    """The articles of a source with their index, cached under a digest of both."""

    def __init__(self, folder: Path, retriever: Retriever, spec: RetrieverSpec, about: dict[str, Any]) -> None:
        self._folder, self._retriever, self._spec, self._about = folder, retriever, spec, about
        self._corpus = _corpus(folder)
        self._found = lru_cache(_REMEMBERED)(self._search_one)

    def __len__(self) -> int:
        return len(self._corpus)

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """The k best articles for each query, best first, ties in source order; none for a query without words.

        Scores are rounded as in the builder's retrieval runs.
        """
        return [list(self._found(query, k)) for query in queries]

    def get(self, id: str) -> Passage | None:
        """The article of a page; None if the source lacks it."""
        rows = self._corpus.rows_of_page(id)
        return self._passage(rows[0]) if rows else None

    def describe(self) -> dict[str, Any]:
        """What the articles and their ranking depend on, for a run's record."""
        return self._about | {"n_articles": len(self)}

    def _search_one(self, query: str, k: int) -> tuple[Passage, ...]:
        spec = self._spec.model_copy(update={"k": k})
        context = Context(spec, self._corpus, cache_folder(), 1, _tick)
        (hits,) = self._retriever.search(context, self._folder / "search", [Query("", query)])
        if not hits:
            _log.info("no article found for %r", query)
        return tuple(self._passage(hit.row) for hit in ranked_hits(hits)[:k])

    def _passage(self, row: int) -> Passage:
        found = self._corpus.passage(row)
        return Passage(found.page_id, found.title, found.text, "random")


def articles_of(dataset: Dataset, config: str, split: str, source: str | None, kind: str) -> Articles:
    """The articles of a knowledge source `READER=PATH`, by default those in the contexts of a config."""
    if source is None:
        facts = {"manifest_sha256": dataset.manifest_sha256, "config": config, "split": split}
        return _indexed(lambda: from_instances(load_instances(dataset, config, split)), facts, kind)
    written = _SOURCE.fullmatch(source)
    if written is None or written["reader"] not in PAGE_READERS:
        known = ", ".join(PAGE_READERS)
        raise SetupError(f"invalid --articles {source}; write READER=PATH, where READER is one of {known}")
    path = fetch(Source(reader=written["reader"], path=written["path"]), Path(), cache_folder())
    facts = {"reader": written["reader"], "sha256": digest_of_file(path), "words": str(CHUNK_WORDS)}
    return _indexed(lambda: from_pages(written["reader"], path), facts, kind)


def from_instances(instances: Iterable[Instance]) -> list[Article]:
    """The articles of all contexts, in order of appearance, their passages sorted by number."""
    pages: dict[str, dict[str, Passage]] = {}
    for instance in instances:
        for passage in instance.passages:
            pages.setdefault(page_of(passage.pid), {}).setdefault(passage.pid, passage)
    return [article_of(id, list(passages.values())) for id, passages in pages.items()]


def from_pages(reader: str, path: Path) -> Iterator[Article]:
    """The articles of a knowledge source, without empty ones."""
    for page in PAGE_READERS[reader](path, Counter()):
        if pieces := chunk_page(page, CHUNK_WORDS):
            yield Article(page.page_id, page.title, "\n".join(piece.text for piece in pieces))


def article_of(id: str, passages: Sequence[Passage]) -> Article:
    """An article from passages of one page."""
    ordered = sorted(passages, key=lambda passage: _number(passage.pid))
    return Article(id, ordered[0].title, "\n".join(" ".join(passage.text.split()) for passage in ordered))


def page_of(pid: str) -> str:
    """The page id of a passage: the part of its id before the last colon."""
    return pid.rpartition(":")[0] or pid


def _number(pid: str) -> int:
    number = pid.rpartition(":")[2]
    return int(number) if number.isdecimal() else 0


def _indexed(read: Callable[[], Iterable[Article]], facts: dict[str, str], kind: str) -> Articles:
    """The articles that `read` returns, indexed unless the cache has the index."""
    retriever, spec = RETRIEVERS[kind](), RetrieverSpec(kind=kind, k=1)
    try:
        about = {"source": facts, "index": kind, "identity": retriever.identity(spec)}
    except SetupError as error:
        raise SetupError(f"{error}; or give --index bm25s") from None
    folder = cache_folder() / "articles" / digest_of({"code": _CODE, **about})[:32]
    if not folder.is_dir():
        from builders.display import Terminal

        with replacing(folder) as partial, progress_bars(Terminal(stderr=True)) as progress:
            partial.mkdir()
            _write(progress.track(read(), description="read articles"), partial)
            bar = progress.add_task("index articles")
            (partial / "search").mkdir()

            def tick(done: int, total: int) -> None:
                progress.update(bar, completed=done, total=total)

            retriever.index(Context(spec, _corpus(partial), cache_folder(), 1, tick), partial / "search")
    return Articles(folder, retriever, spec, about)


def _write(articles: Iterable[Article], folder: Path) -> None:
    """Writes a corpus with one passage per page: the whole article."""
    left, n_parts = iter(articles), 0
    while part := list(islice(left, _PART)):
        ids, titles, texts = map(list, zip(*part, strict=True))
        zeros = [0] * len(part)
        nothing: list[list[str]] = [[]] * len(part)
        passages = [[f"{id}:0" for id in ids], ids, titles, texts, zeros, zeros, zeros, zeros]
        write_table(folder / f"pages-{n_parts:06d}.arrow", pa.table([ids, titles, nothing, nothing], schema=PAGES))
        write_table(folder / f"articles-{n_parts:06d}.arrow", pa.table(passages, schema=PASSAGES))
        n_parts += 1
    if not n_parts:
        raise SetupError("the knowledge source has no article with text; give another with --articles READER=PATH")
    if repeated := write_page_index(*_parts(folder), folder / "index"):
        raise SetupError(f"the knowledge source has duplicate article ids: {', '.join(repeated)}; keep one of each")


def _parts(folder: Path) -> tuple[list[Path], list[Path]]:
    return sorted(folder.glob("pages-*.arrow")), sorted(folder.glob("articles-*.arrow"))


def _corpus(folder: Path) -> Corpus:
    return Corpus(*_parts(folder), folder / "index")


def _tick(done: int, total: int) -> None:
    """Shows no progress: a search is fast."""
