"""MuSiQue (Trivedi et al., TACL 2022): questions of two to four hops, each with its paragraphs."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from builders.schema import Page, Question, Span
from builders.sources.answers import answer_kind, distinct_answers, left_out
from builders.sources.base import Reader
from builders.sources.clean import decode_entities
from builders.sources.jsonl import Record, read_records
from builders.sources.paragraphs import distinct_pages, page_id_of

_SHAPE = re.compile(r"[2-4]hop[0-9]?(?=__)")  # an id begins with the shape of its chain, such as 3hop1


def read_pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
    """A page for each distinct paragraph."""
    return distinct_pages(_paragraphs(path, counts), counts)


def _paragraphs(path: Path, counts: Counter[str]) -> Iterator[tuple[str, str]]:
    for record in read_records(path):
        counts["read"] += 1
        yield from map(_title_and_text, record.objects("paragraphs"))


def read_questions(path: Path, task: str, counts: Counter[str]) -> Iterator[Question]:
    """The answerable questions, each supporting paragraph a span; hops are the steps of the decomposition."""
    for record in read_records(path):
        counts["read"] += 1
        query = decode_entities(record.text("question")).strip()
        answers = distinct_answers(_answers(record))
        spans = list(dict.fromkeys(_span(p) for p in record.objects("paragraphs") if p.values.get("is_supporting")))
        answerable = record.values.get("answerable") is not False
        if reason := left_out(query, answers, spans) if answerable else "unanswerable":
            counts[reason] += 1
            continue
        name = record.identifier("id")
        hops = len(record.items("question_decomposition")) if record.has("question_decomposition") else len(spans)
        kind = answer_kind(answers[0])
        types = _SHAPE.findall(name)
        yield Question(f"{task}-{name}", task, query, answers, kind, spans, hops, types)


def _answers(record: Record) -> list[str]:
    """The answer, then its aliases."""
    canonical = [record.text("answer")] if record.has("answer") else []
    return canonical + (record.texts("answer_aliases") if record.has("answer_aliases") else [])


def _title_and_text(paragraph: Record) -> tuple[str, str]:
    return paragraph.text("title"), paragraph.text("paragraph_text")


def _span(paragraph: Record) -> Span:
    title, text = _title_and_text(paragraph)
    return Span(page_id_of(title, text), 1, 0, 1, len(text))


READER = Reader("MuSiQue's files", read_pages, read_questions, gold="all")
