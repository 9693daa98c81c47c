"""Finds names of pages in a text by a table of hashed titles and link texts, on disk and in sorted order."""

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from builders.corpus import Corpus
from builders.retrieve.words import STOP_WORDS
from builders.text import normalise

MOST_WORDS = 8  # of a name
_NO_PAGE = -1  # of a link text, which says that its words are a name, and not of which page
_PARTS = 64  # the table is sorted part by part, so that one of them is in memory at a time
_PAIR = np.dtype([("key", "<u8"), ("page", "<i8")])
_DISAMBIGUATION = re.compile(r"\s*\([^()]*\)\s*$")


class Mention(NamedTuple):
    """A name in a text, normalised, and the numbers of the pages whose title it is (with or without "(...)")."""

    name: str
    pages: list[int]


class Names:
    """The table that `write_names` made, as memory maps."""

    def __init__(self, folder: Path) -> None:
        self._pairs = np.load(folder / "names.npy", mmap_mode="r")

    def mentions(self, text: str) -> list[Mention]:
        """The names in a text from left to right, at each place the longest; a stop word alone is not a name."""
        words = normalise(text).split()
        known = self._known({words_at(words, i, n) for i in range(len(words)) for n in range(1, MOST_WORDS + 1)})
        found, at = [], 0
        while at < len(words):
            n = next((n for n in range(MOST_WORDS, 0, -1) if words_at(words, at, n) in known), 0)
            if n:
                found.append(words_at(words, at, n))
            at += n or 1
        return [Mention(name, known[name]) for name in dict.fromkeys(found)]

    def _known(self, names: set[str]) -> dict[str, list[int]]:
        """Which of some names are in the table, with their pages."""
        asked = sorted(name for name in names if name not in STOP_WORDS)
        keys = np.array([_key(name) for name in asked], dtype=np.uint64)
        starts, ends = (np.searchsorted(self._pairs["key"], keys, side=side) for side in ("left", "right"))
        return {
            name: [page for page in self._pairs["page"][start:end].tolist() if page != _NO_PAGE]
            for name, start, end in zip(asked, starts, ends, strict=True)
            if start < end
        }


def words_at(words: list[str], at: int, n: int) -> str:
    """The n words at a place, or an empty text where there are fewer."""
    return " ".join(words[at : at + n]) if at + n <= len(words) else ""


def write_names(corpus: Corpus, folder: Path) -> None:
    """Writes `names.npy`: (hash of a name, page number) for all titles and link texts, sorted, no pair twice."""
    parts = [folder / f"{n}.part" for n in range(_PARTS)]
    files = [path.open("wb") for path in parts]
    try:
        for pairs in _pairs(corpus):
            part = (pairs["key"] >> np.uint64(58)).astype(int)
            for n in np.unique(part):
                files[n].write(pairs[part == n].tobytes())
    finally:
        for file in files:
            file.close()
    _join(parts, folder / "names.npy")


def _join(parts: list[Path], out: Path) -> None:
    """Sorts each part and puts them one after the other, which sorts the whole, since parts are ranges of keys."""
    for path in parts:
        np.unique(np.fromfile(path, dtype=_PAIR)).tofile(path)
    sizes = [path.stat().st_size // _PAIR.itemsize for path in parts]
    whole = np.lib.format.open_memmap(out, mode="w+", dtype=_PAIR, shape=(sum(sizes),))
    for path, end, size in zip(parts, accumulate(sizes), sizes, strict=True):
        whole[end - size : end] = np.fromfile(path, dtype=_PAIR)
        path.unlink()
    whole.flush()


def _pairs(corpus: Corpus) -> Iterator[np.ndarray]:
    """The pairs of each part of the corpus; pages without a passage are left out, since none could be returned."""
    for start, batch in corpus.page_batches():
        titles = [(title, start + i) for i, title in enumerate(batch.column("title").to_pylist())]
        named = [(title, page) for title, page in titles if len(corpus.rows_of_page_number(page))]
        short = [(_DISAMBIGUATION.sub("", title), page) for title, page in named]
        links = batch.column("anchors").flatten().field("text").unique().to_pylist()
        yield _hashed([*named, *short, *((text, _NO_PAGE) for text in links)])


def _hashed(names: Iterable[tuple[str, int]]) -> np.ndarray:
    normal = ((normalise(name), page) for name, page in names)
    kept = [(_key(name), page) for name, page in normal if name and name.count(" ") < MOST_WORDS]
    return np.array(kept, dtype=_PAIR)


def _key(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big")
