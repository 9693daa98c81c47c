"""Wikipedia introductions: one JSON object, title to {title, extract, description, topic}."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from builders.errors import SetupError
from builders.schema import Page
from builders.sources.base import Reader
from builders.sources.clean import decode_entities
from builders.sources.jsonl import Record


def read_pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
    """One page for each introduction, its paragraphs the title and the extract; ids are `i1`, `i2`, ... by position."""
    try:
        articles = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} is not JSON ({error})") from None
    if not isinstance(articles, dict):
        raise SetupError(f"{path} holds no JSON object; wanted title to article")
    file = Record(articles, str(path))
    for number, key in enumerate(articles, start=1):
        counts["read"] += 1
        article = file.object(key)
        title, extract = article.text("title"), article.text("extract")
        if extract.strip():
            yield Page(f"i{number}", decode_entities(title), [title, extract], [])
        else:
            counts["empty_page"] += 1


READER = Reader("10,033 Wikipedia introductions that pip installs", read_pages)
