"""FRAMES (Krishna et al., NAACL 2025): questions over several Wikipedia articles, which it names by their links."""

import ast
import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from builders.errors import SetupError, shown
from builders.schema import Question, Quote
from builders.sources.answers import answer_kind, distinct_answers, left_out
from builders.sources.base import Reader
from builders.sources.clean import decode_entities
from builders.sources.jsonl import Record, read_records
from builders.sources.titles import title_key, title_of

_COLUMN = re.compile(r"wikipedia_link_([0-9]+)\+?")  # the last one, 11+, may hold several
_IDS = ("id", "Unnamed: 0", "")  # what the first column is called
_BORDER = re.compile(r"\s+|,(?=https?://)")
_LINK = re.compile(r"(?:https?://)?[\w-]+(?:\.[\w-]+)+/\S+")
_HOSTS = ("en.wikipedia.org", "en.m.wikipedia.org")
_MOST_CHARACTERS = 1 << 24  # of a cell of a table


def read_questions(path: Path, task: str, counts: Counter[str]) -> Iterator[Question]:
    """The questions with the titles of their gold articles as quotes without words; hops are those titles.

    `path` is JSON or, with that ending, the publisher's test.tsv. A link that names no article of the English
    Wikipedia (a short link, a search, another language) is kept as a title and counted under `link_without_title`.
    """
    for record in _records(path):
        counts["read"] += 1
        query = decode_entities(record.text("Prompt")).strip()
        answers = distinct_answers([record.text("Answer")])
        titles = gold_titles(record, counts)
        quotes = tuple(Quote(title, "") for title in titles)
        if reason := left_out(query, answers, quotes):
            counts[reason] += 1
            continue
        name, types = f"{task}-{_id_of(record)}", reasoning_types(record.text("reasoning_types"))
        yield Question(name, task, query, answers, answer_kind(answers[0]), [], len(titles), types, quotes)


def gold_titles(record: Record, counts: Counter[str]) -> list[str]:
    """The title of each article that a record links to, once, in the order of its columns and then of `wiki_links`."""
    titles: dict[str, None] = {}
    for link in dict.fromkeys(_links(record)):
        title = title_of_link(link)
        counts["link_without_title"] += title is None
        titles[title or link] = None
    return list(titles)


def title_of_link(link: str) -> str | None:
    """The title of the article of the English Wikipedia that a link leads to, None where it leads elsewhere."""
    try:
        parts = urlsplit(link if "://" in link else f"https://{link}")
    except ValueError:  # brackets that are no address
        return None
    if parts.netloc not in _HOSTS:
        return None
    if parts.path.startswith("/wiki/"):
        return title_of(parts.path.removeprefix("/wiki/")) or None
    asked = parse_qs(parts.query)
    return title_key(asked["title"][0]) if "title" in asked and "search" not in asked else None


def reasoning_types(written: str) -> list[str]:
    """The names in a cell such as `Tabular reasoning | Post processing`, each once."""
    return list(dict.fromkeys(name for part in written.split("|") if (name := part.strip())))


def _links(record: Record) -> Iterator[str]:
    columns = sorted((int(found[1]), name) for name in record.values if (found := _COLUMN.fullmatch(name)))
    cells = [record.text(name) for _, name in columns if record.has(name)]
    if record.has("wiki_links"):
        cells += _listed(record)
    for cell in cells:
        for part in _BORDER.split(cell):  # a word that is not a link is a note
            if _LINK.fullmatch(part):
                yield part.rstrip(",")


def _listed(record: Record) -> list[str]:
    """The cells of `wiki_links`: a list, or one in Python's notation."""
    value = record.values["wiki_links"]
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise record.wrong("wiki_links", value, "a list of links") from None
    return Record({"wiki_links": value}, record.where).texts("wiki_links")


def _id_of(record: Record) -> str:
    name = next((name for name in _IDS if record.has(name)), "id")
    return record.identifier(name)


def _records(path: Path) -> Iterator[Record]:
    return _rows(path) if path.suffix == ".tsv" else read_records(path)


def _rows(path: Path) -> Iterator[Record]:
    """The rows of a table with tabs, under the names of its first line; a row has as many cells as that line."""
    csv.field_size_limit(_MOST_CHARACTERS)
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            rows = csv.reader(file, delimiter="\t", strict=True)
            names = next(rows, [])
            if twice := sorted({shown(name) for name in names if names.count(name) > 1}):
                raise SetupError(f"{path}: column {twice[0]} twice; wanted one column of each name")
            for number, row in enumerate(rows, start=1):
                if len(row) > len(names):
                    raise SetupError(f"{path}, row {number}: {len(row)} cells, wanted {len(names)}")
                if row:
                    yield Record(dict(zip(names, row, strict=False)), f"{path}, row {number}")
        except (csv.Error, UnicodeDecodeError) as error:
            raise SetupError(f"{path} is not a table with tabs ({error}); fetch it again") from None


READER = Reader("FRAMES' questions, JSON or TSV", questions=read_questions, gold="all")
