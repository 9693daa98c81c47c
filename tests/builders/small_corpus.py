"""A corpus of hand-written pages for tests."""

from pathlib import Path

import pyarrow as pa

from builders.chunk import chunk_table
from builders.corpus import Corpus, write_page_index
from builders.files import write_table
from builders.schema import PAGES, Page


def small_corpus(tmp_path: Path, pages: list[Page], words: int = 100) -> Corpus:
    """The corpus of `pages`, chunked; its files are in the folder `corpus` of `tmp_path`."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    table = page_table(pages)
    write_table(folder / "pages.arrow", table)
    write_table(folder / "passages.arrow", chunk_table(table, words))
    repeated = write_page_index([folder / "pages.arrow"], [folder / "passages.arrow"], folder / "index")
    if repeated:
        raise ValueError(f"page ids stand on more than one page: {repeated}")
    return Corpus([folder / "pages.arrow"], [folder / "passages.arrow"], folder / "index")


def page_table(pages: list[Page]) -> pa.Table:
    """Pages as one table (schema.PAGES)."""
    rows = [page._asdict() | {"anchors": [{"text": t, "title": to} for t, to in page.anchors]} for page in pages]
    return pa.Table.from_pylist(rows, schema=PAGES)


def page(page_id: str, title: str, *paragraphs: str) -> Page:
    """A page with its title as paragraph 0, as in KILT."""
    return Page(page_id, title, [f"{title}\n", *paragraphs], [])
