"""Wikipedia introductions: one JSON object, title to {title, extract, description, topic}."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from builders.schema import Page
from builders.sources.base import Reader
from builders.sources.clean import decode_entities
from builders.sources.jsonl import read_object


def read_pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
    """One page for each introduction, its paragraphs the title and the extract; ids are `i1`, `i2`, ... by position."""
    file = read_object(path)
    for number, key in enumerate(file.values, start=1):
        counts["read"] += 1
        article = file.object(key)
        title, extract = article.text("title"), article.text("extract")
        if extract.strip():
            yield Page(f"i{number}", decode_entities(title), [title, extract], [])
        else:
            counts["empty_page"] += 1


READER = Reader("10,033 Wikipedia introductions that pip installs", read_pages)
