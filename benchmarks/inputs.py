"""The real inputs: a small KILT with 27,063 pages and 2,725 questions."""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from builders.chunk import chunk_table
from builders.corpus import Corpus, write_page_index
from builders.errors import SetupError
from builders.files import write_table
from builders.retrieve.base import Query
from builders.schema import PAGES, Question
from builders.sources.kilt import read_pages, read_questions
from builders.stages.retrieval import query_of

TASKS = ("nq", "hotpotqa", "fever", "wow")
KNOWLEDGE = "kilt_knowledgesource.json"


def kilt_folder(data: Path | None) -> Path:
    """The folder `kilt_mini` of the real inputs; SetupError if it is missing.

    Without `data`, looks in $ICR2_TEST_DATA, then in ../shared/data next to the repository.
    """
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = (data or Path(os.environ.get("ICR2_TEST_DATA", beside))) / "kilt_mini"
    if not (folder / KNOWLEDGE).is_file():
        raise SetupError(f"{folder / KNOWLEDGE} is missing; pass the parent folder of kilt_mini with --data")
    return folder


def page_table(folder: Path) -> pa.Table:
    """All pages (schema.PAGES)."""
    pages = list(read_pages(folder / KNOWLEDGE, Counter()))
    anchors = [[{"text": text, "title": title} for text, title in page.anchors] for page in pages]
    return pa.Table.from_pylist(
        [page._asdict() | {"anchors": found} for page, found in zip(pages, anchors, strict=True)], schema=PAGES
    )


def corpus(folder: Path, out: Path) -> Corpus:
    """All passages of at most 100 words; the corpus is written to the new folder `out`."""
    out.mkdir()
    pages = page_table(folder)
    write_table(out / "pages.arrow", pages)
    write_table(out / "passages.arrow", chunk_table(pages, 100))
    write_page_index([out / "pages.arrow"], [out / "passages.arrow"], out / "index")
    return Corpus([out / "pages.arrow"], [out / "passages.arrow"], out / "index")


def questions(folder: Path, task: str, n: int | None = None) -> list[Question]:
    """The first n questions of a task, or all."""
    return list(islice(_read(folder, task), n))


def _read(folder: Path, task: str) -> Iterator[Question]:
    return read_questions(folder / f"{task}-dev-kilt.jsonl", task, Counter())


def queries(folder: Path, n: int) -> list[Query]:
    """At most n questions with their canonical answers, equally many of each task."""
    each = n // len(TASKS)
    return [query_of(question) for task in TASKS for question in questions(folder, task, each)]
