"""Random access to all pages and passages by memory map; memory does not grow with the knowledge source."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa

from builders.schema import Found, Page, Passage


class Corpus:
    """The passages of a knowledge source, numbered in corpus order (page by page, as the source lists them).

    `pages` and `passages` are parallel lists of Arrow files; `index` is a folder made by `write_page_index`.
    """

    def __init__(self, pages: Sequence[Path], passages: Sequence[Path], index: Path) -> None:
        self._pages, self._passages = list(pages), list(passages)
        self._keys = np.load(index / "keys.npy", mmap_mode="r")  # sorted hashes of page ids
        self._page = np.load(index / "page.npy", mmap_mode="r")  # page number of each key
        self._first = np.load(index / "first.npy", mmap_mode="r")  # first row of each page, and the end
        self._page_starts = np.load(index / "page_starts.npy")  # first page number of each part, and the end
        self._starts = self._first[self._page_starts].tolist()
        self._batch = lru_cache(maxsize=64)(_only_batch)

    def __len__(self) -> int:
        return int(self._first[-1])

    @property
    def n_pages(self) -> int:
        """How many pages there are."""
        return len(self._keys)

    def passage(self, row: int) -> Passage:
        """The passage at a row."""
        return self.at(Found(row))

    def at(self, found: Found) -> Passage:
        """A passage with its text."""
        part = bisect_right(self._starts, found.row) - 1
        batch, at = self._batch(self._passages[part]), found.row - self._starts[part]
        pid, title, text = (batch.column(name)[at].as_py() for name in ("pid", "title", "text"))
        return Passage(found.row, pid, title, text, *found[1:])

    def pids(self, rows: Sequence[int]) -> list[str]:
        """The passage ids at rows."""
        parts = ((bisect_right(self._starts, row) - 1, row) for row in rows)
        return [self._batch(self._passages[p]).column("pid")[row - self._starts[p]].as_py() for p, row in parts]

    def batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Every part's first row and its passages (schema.PASSAGES), in corpus order."""
        for start, path in zip(self._starts, self._passages, strict=False):
            yield start, _only_batch(path)

    def page_batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Every part's first page number and its pages (schema.PAGES), in corpus order."""
        for start, path in zip(self._page_starts.tolist(), self._pages, strict=False):
            yield start, _only_batch(path)

    def rows_of_page_number(self, number: int) -> range:
        """The rows of a page's passages, the page given by its number in corpus order."""
        return range(int(self._first[number]), int(self._first[number + 1]))

    def page_numbers(self, rows: np.ndarray) -> np.ndarray:
        """The number of each row's page."""
        return np.searchsorted(self._first, rows, side="right") - 1

    def page_number(self, page_id: str) -> int | None:
        """A page's number in corpus order, or None for an unknown id."""
        key = page_key(page_id)
        at = int(np.searchsorted(self._keys, key))
        if at == len(self._keys) or self._keys[at] != key:
            return None
        number = int(self._page[at])
        return number if self.page_at(number).page_id == page_id else None

    def page_at(self, number: int) -> Page:
        """The page with this number."""
        part = int(np.searchsorted(self._page_starts, number, side="right")) - 1
        batch, at = self._batch(self._pages[part]), number - int(self._page_starts[part])
        page_id, title, paragraphs, anchors = (batch.column(name)[at].as_py() for name in batch.schema.names)
        return Page(page_id, title, paragraphs, [(a["text"], a["title"]) for a in anchors])

    def rows_of_page(self, page_id: str) -> range:
        """The rows of a page's passages; empty for an unknown id."""
        number = self.page_number(page_id)
        return range(0) if number is None else self.rows_of_page_number(number)

    def row_of(self, pid: str) -> int | None:
        """The row of a passage id `{page id}:{n}`, or None for an unknown id."""
        page_id, colon, n = pid.rpartition(":")
        rows = self.rows_of_page(page_id) if colon and n.isdecimal() and len(n) < 10 else range(0)
        return rows[int(n)] if rows and int(n) < len(rows) else None

    def spans(self, rows: range) -> list[tuple[int, int, int, int]]:
        """Each passage's place in its page: (start paragraph, start character, end paragraph, end character)."""
        part = bisect_right(self._starts, rows.start) - 1
        batch, first = self._batch(self._passages[part]), self._starts[part]
        columns = [
            batch.column(name).slice(rows.start - first, len(rows)).to_pylist()
            for name in ("start_paragraph", "start_character", "end_paragraph", "end_character")
        ]
        return list(zip(*columns, strict=True))


def _only_batch(path: Path) -> pa.RecordBatch:
    return pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0)


def page_key(page_id: str) -> np.uint64:
    """A 64-bit hash of a page id; look-ups also compare the id."""
    return np.uint64(int.from_bytes(blake2b(page_id.encode(), digest_size=8).digest(), "big"))


def write_page_index(pages: Sequence[Path], passages: Sequence[Path], out: Path) -> list[str]:
    """Writes the index that `Corpus` opens; returns ids shared by several pages, which are an error."""
    keys, counts, page_starts = [], [], [0]
    for page_path, passage_path in zip(pages, passages, strict=True):
        ids = _only_batch(page_path).column("page_id").to_pylist()
        keys.append(np.array([page_key(i) for i in ids], dtype=np.uint64))
        counts.append(_passages_per_page(ids, _only_batch(passage_path).column("page_id")))
        page_starts.append(page_starts[-1] + len(ids))
    all_keys = np.concatenate(keys)
    order = np.argsort(all_keys, kind="stable")
    out.mkdir()
    np.save(out / "keys.npy", all_keys[order])
    np.save(out / "page.npy", order.astype(np.int64))
    np.save(out / "first.npy", np.fromiter(accumulate(np.concatenate(counts).tolist(), initial=0), np.int64))
    np.save(out / "page_starts.npy", np.array(page_starts, dtype=np.int64))
    return _repeated(all_keys[order], order, pages, page_starts)


def _passages_per_page(page_ids: list[str], passage_pages: pa.Array) -> np.ndarray:
    """Passages per page; passages are in page order, and a page may have none."""
    counts = dict.fromkeys(page_ids, 0)
    for value in passage_pages.value_counts().to_pylist():
        counts[value["values"]] += value["counts"]
    return np.fromiter((counts[i] for i in page_ids), dtype=np.int64, count=len(page_ids))


def _repeated(keys: np.ndarray, order: np.ndarray, pages: Sequence[Path], starts: list[int]) -> list[str]:
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    numbers = sorted({int(order[at + 1]) for at in twice[:20]})
    return [
        _only_batch(pages[part]).column("page_id")[number - starts[part]].as_py()
        for number in numbers
        for part in (bisect_right(starts, number) - 1,)
    ]
