"""KILT: the knowledge source and the task files (Petroni et al., NAACL 2021, section 3)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from builders.schema import TO_THE_END, Page, Question, Quote, Span
from builders.sources.answers import answer_kind, distinct_answers, left_out
from builders.sources.base import Reader
from builders.sources.clean import HEADING, decode_entities
from builders.sources.jsonl import Record, read_records
from builders.sources.titles import first_paragraph, title_of


def read_pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
    """The pages of a knowledge source; those without text are counted under `empty_page`.

    Where paragraph 0 is not the title it is text, and the page is counted under `text_0_is_not_the_title`.
    Paragraphs stay raw, because provenance counts their characters.
    """
    for record in read_records(path):
        counts["read"] += 1
        paragraphs, title = record.texts("text"), decode_entities(record.text("wikipedia_title"))
        first = first_paragraph(title, paragraphs)
        if all(not text.strip() or text.startswith(HEADING) for text in paragraphs[first:]):
            counts["empty_page"] += 1
            continue
        if first == 0:
            counts["text_0_is_not_the_title"] += 1
        anchors = _anchors(record.items("anchors") if record.has("anchors") else [])
        yield Page(record.identifier("wikipedia_id"), title, paragraphs, anchors)


def read_questions(path: Path, task: str, counts: Counter[str]) -> Iterator[Question]:
    """The questions of a task file that can be built; the others are counted by reason.

    Answers and provenance are each collected over all outputs, because KILT gives them in different ones.
    """
    for record in read_records(path):
        counts["read"] += 1
        query = decode_entities(record.text("input")).strip()
        outputs = record.objects("output") if record.has("output") else []
        answers = distinct_answers(o.text("answer") for o in outputs if o.has("answer"))
        entries = [p for o in outputs if o.has("provenance") for p in o.objects("provenance")]
        spans = list(dict.fromkeys(_span(e) for e in entries if e.has("wikipedia_id")))
        quotes = tuple(dict.fromkeys(_quote(e) for e in entries if e.has("quote")))
        if reason := left_out(query, answers, [*spans, *quotes]):
            counts[reason] += 1
            continue
        hops, types = _from_meta(record)
        hops = hops or len({s.page_id for s in spans}) + len({q.title for q in quotes})
        name = f"{task}-{record.identifier('id')}"
        yield Question(name, task, query, answers, answer_kind(answers[0]), spans, hops, types, quotes)


def _span(entry: Record) -> Span:
    """A provenance; without a paragraph it is the whole page."""
    page_id = entry.identifier("wikipedia_id")
    if not entry.has("start_paragraph_id"):
        return Span(page_id, 1, 0, TO_THE_END, TO_THE_END)
    start = entry.integer("start_paragraph_id")
    return Span(
        page_id,
        start,
        entry.integer("start_character") if entry.has("start_character") else 0,
        entry.integer("end_paragraph_id") if entry.has("end_paragraph_id") else start,
        entry.integer("end_character") if entry.has("end_character") else TO_THE_END,
    )


def _quote(entry: Record) -> Quote:
    return Quote(decode_entities(entry.text("title")), decode_entities(entry.text("quote")))


def _from_meta(record: Record) -> tuple[int, list[str]]:
    """Hops (0 where they are not given) and reasoning types."""
    if not record.has("meta"):
        return 0, []
    meta = record.object("meta")
    hops = meta.integer("hops") if meta.has("hops") else 0
    return hops, meta.texts("reasoning_types") if meta.has("reasoning_types") else []


def _anchors(values: Iterable[Any]) -> list[tuple[str, str]]:
    """The text of each link and the title that it leads to; links without either say nothing."""
    found = (value for value in values if isinstance(value, dict))
    pairs = ((value.get("text"), value.get("href")) for value in found)
    named = ((text, title_of(href)) for text, href in pairs if isinstance(text, str) and isinstance(href, str))
    return [(decode_entities(text), title) for text, title in named if text and title]


READER = Reader("KILT's knowledge source and task files, JSONL or .gz", read_pages, read_questions)
