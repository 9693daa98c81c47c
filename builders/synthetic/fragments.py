"""Fragments that haystacks are built from: whole sentences of pages, or of a folder of text files."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from builders.chunk import sentences
from builders.config import Source
from builders.errors import SetupError
from builders.files import expanded, read_table, write_table
from builders.schema import Page
from builders.sources import PAGE_READERS
from builders.sources.clean import HEADING, clean
from builders.sources.titles import first_paragraph
from builders.synthetic.overlap import content_words
from builders.tokens import TokenCounter

TEXTS = "texts"  # the reader of a folder of text files
LEAST = 8  # tokens of a fragment
_BLANK_LINES = re.compile(r"\n\s*\n")
_NOT_ID = re.compile(r"[^\w.]+")
_FINISHED = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


_FRAGMENTS = pa.schema(
    [("pid", pa.string()), ("text", pa.large_string()), ("tokens", pa.int32()), ("page", pa.int64())]
)


class Fragment(NamedTuple):
    """Consecutive sentences; `page` is the number of their page."""

    pid: str
    text: str
    tokens: int
    page: int


class Pool(NamedTuple):
    """All fragments in the order of their pages, and the content words of each page."""

    fragments: list[Fragment]
    words: list[frozenset[str]]

    def without(self, barred: frozenset[str]) -> list[Fragment]:
        """The fragments of pages that contain none of the excluded words."""
        free = [barred.isdisjoint(words) for words in self.words]
        return [fragment for fragment in self.fragments if free[fragment.page]]

    def write(self, folder: Path) -> None:
        """Writes the pool into a new folder."""
        folder.mkdir()
        rows = [fragment._asdict() for fragment in self.fragments]
        write_table(folder / "fragments.arrow", pa.Table.from_pylist(rows, schema=_FRAGMENTS))
        words = pa.array([sorted(words) for words in self.words], pa.list_(pa.string()))
        write_table(folder / "words.arrow", pa.table({"words": words}))

    @classmethod
    def read(cls, folder: Path) -> "Pool":
        """The pool that `write` wrote."""
        columns = read_table(folder / "fragments.arrow").to_pydict()
        words = read_table(folder / "words.arrow").column("words").to_pylist()
        return cls([Fragment(*values) for values in zip(*columns.values(), strict=True)], [*map(frozenset, words)])


def source_files(source: Source, base: Path) -> dict[str, Source]:
    """The files of a source by their place in the manifest: the file itself, or each text file of a folder."""
    if source.reader != TEXTS:
        if source.reader not in PAGE_READERS:
            known = ", ".join((*PAGE_READERS, TEXTS))
            raise SetupError(f"knowledge.reader {source.reader!r} is unknown; there are {known}")
        return {"knowledge": source}
    folder = base / expanded(source.path or "")
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise SetupError(f"{folder} contains no .txt file; set knowledge.path to a folder of texts")
    return {f"knowledge.{path.stem}": source.model_copy(update={"path": str(path.resolve())}) for path in paths}


def read_pool(reader: str, paths: Mapping[str, Path], most: int, counter: TokenCounter, counts: Counter[str]) -> Pool:
    """The fragments of at most `most` tokens in files, by place.

    Unusable text is counted: `long_sentence`, `short_fragment`, `unfinished_fragment` (without a final full stop).
    """
    fragments: list[Fragment] = []
    words = []
    for number, page in enumerate(_pages(reader, paths, counts)):
        words.append(content_words("\n".join(page.paragraphs)))
        found = [piece for paragraph in _text_of(page) for piece in _packed(paragraph, most, counter, counts)]
        fragments += [Fragment(f"{page.page_id}:{n}", *piece, number) for n, piece in enumerate(found)]
    counts["fragments"] = len(fragments)
    return Pool(fragments, words)


def _text_of(page: Page) -> list[str]:
    return page.paragraphs[first_paragraph(page.title, page.paragraphs) :]


def _pages(reader: str, paths: Mapping[str, Path], counts: Counter[str]) -> Iterator[Page]:
    for path in paths.values():
        yield from (_texts(path) if reader == TEXTS else PAGE_READERS[reader](path, counts))


def _texts(path: Path) -> Iterator[Page]:
    """The paragraphs of a text file, one page each: a whole book would share a word with every needle."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SetupError(f"{path} is not UTF-8; save it as UTF-8") from None
    name = _NOT_ID.sub("_", path.stem)
    for number, paragraph in enumerate(filter(str.strip, _BLANK_LINES.split(text)), start=1):
        yield Page(f"{name}.{number}", path.stem, [path.stem, paragraph], [])


def _packed(paragraph: str, most: int, counter: TokenCounter, counts: Counter[str]) -> list[tuple[str, int]]:
    """A paragraph's fragments with their tokens: as many consecutive sentences as `most` allows."""
    if paragraph.startswith(HEADING):
        return []
    text = clean(paragraph).text
    found = [" ".join(text[start:end].split()) for start, end in sentences(text)]
    pieces: list[tuple[str, int]] = []
    is_open = False  # whether the next sentence may be appended
    for sentence, tokens in zip(found, counter.count_all(found), strict=True):
        if tokens > most:
            counts["long_sentence"] += 1
            is_open = False
            continue
        joined = f"{pieces[-1][0]} {sentence}" if is_open else ""
        if is_open and (together := counter.count(joined)) <= most:
            pieces[-1] = (joined, together)
        else:
            pieces.append((sentence, tokens))
        is_open = True
    return [piece for piece in pieces if _is_usable(*piece, counts)]


def _is_usable(text: str, tokens: int, counts: Counter[str]) -> bool:
    reason = "short_fragment" if tokens < LEAST else "unfinished_fragment" if not _FINISHED.search(text) else None
    if reason:
        counts[reason] += 1
    return reason is None
