"""Pages of the knowledge source, their passages, and the index of both."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from builders.chunk import chunk_table
from builders.corpus import write_page_index
from builders.engine import Tick
from builders.errors import SetupError
from builders.files import read_table, write_table
from builders.schema import PAGES, Page
from builders.sources import PAGE_READERS
from builders.work import Build, Counts, Shard

PAGES_PER_PART = 4096
MOST = 1 << 26  # characters of the pages of a part, which is in memory at once; a longer page is a part of its own


def plan_pages(build: Build) -> list[Shard]:
    """One shard, a folder of parts: a source is read once, from its beginning."""
    return [Shard("all")]


def make_pages(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the pages of the knowledge source in parts of fixed size."""
    source = build.recipe.knowledge
    path, counts = build.inputs["knowledge"].path, Counter[str]()
    pages = PAGE_READERS[source.reader](path, counts)
    out.mkdir()
    total = 0
    for number, part in enumerate(_parts(pages)):
        write_table(out / f"{number:06d}.arrow", _table(part))
        total += len(part)
        tick(total, source.rows or total)
    if not total:
        raise SetupError(f"{path} contains no page that reader {source.reader!r} can use: {dict(counts)}")
    if source.rows and counts["read"] != source.rows:
        raise SetupError(f"{path} has {counts['read']} records, and the recipe says {source.rows}")
    return {**counts, "pages": total}


def _parts(pages: Iterable[Page]) -> Iterator[list[Page]]:
    part: list[Page] = []
    characters = 0
    for page in pages:
        length = sum(map(len, page.paragraphs))
        if part and (len(part) == PAGES_PER_PART or characters + length > MOST):
            yield part
            part, characters = [], 0
        part.append(page)
        characters += length
    if part:
        yield part


def _table(pages: list[Page]) -> pa.Table:
    return pa.table(
        {
            "page_id": [page.page_id for page in pages],
            "title": [page.title for page in pages],
            "paragraphs": [page.paragraphs for page in pages],
            "anchors": [[{"text": text, "title": title} for text, title in page.anchors] for page in pages],
        },
        schema=PAGES,
    )


def plan_chunk(build: Build) -> list[Shard]:
    """One shard of passages for each part of pages."""
    return [Shard(path.name) for path in sorted(build.path("pages", "all").glob("*.arrow"))]


def make_chunk(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the passages of one part of pages."""
    passages = chunk_table(read_table(build.path("pages", "all") / shard.name), build.recipe.chunk_words)
    write_table(out, passages)
    return {"passages": passages.num_rows}


def plan_index(build: Build) -> list[Shard]:
    """One shard."""
    return [Shard("pages")]


def make_index(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the index of pages; a repeated id stops the build."""
    pages = [build.path("pages", "all") / shard.name for shard in build.shards("chunk")]
    repeated = write_page_index(pages, build.paths("chunk"), out)
    if repeated:
        raise SetupError(f"the knowledge source has several pages with id {', '.join(repeated)}; keep one of each")
    return {}
