"""LOFT's folders (Lee et al. 2024): `corpus.jsonl` with the passages, `{split}_queries.jsonl` with the queries."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from builders.errors import SetupError
from builders.schema import TO_THE_END, Page, Question, Span
from builders.sources.answers import answer_kind, distinct_answers, left_out
from builders.sources.base import Reader
from builders.sources.clean import decode_entities
from builders.sources.jsonl import Record, read_records

_PAIRS = [[pid, relevance] for pid in (str, int) for relevance in (int, float)]


def read_pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
    """A page for each passage with text; SetupError for one id twice."""
    seen: set[str] = set()
    for record in read_records(path):
        counts["read"] += 1
        pid, title, text = record.identifier("pid"), record.text("title_text"), record.text("passage_text")
        if pid in seen:
            raise SetupError(f"{record.where}: pid {pid!r} occurs twice; give each passage an id of its own")
        seen.add(pid)
        if text.strip():
            yield Page(pid, decode_entities(title).strip(), [title, text], [])
        else:
            counts["empty_page"] += 1


def read_questions(path: Path, task: str, counts: Counter[str]) -> Iterator[Question]:
    """The queries, each with the passages of its `qrels` as provenance; hops are their number.

    A query of several turns is left out as `several_turns`.
    """
    for record in read_records(path):
        counts["read"] += 1
        if isinstance(record.values.get("query_text"), list):
            counts["several_turns"] += 1
            continue
        query = decode_entities(record.text("query_text")).strip()
        answers = distinct_answers(record.texts("answers"))
        spans = [Span(pid, 1, 0, TO_THE_END, TO_THE_END) for pid in _relevant(record)]
        if reason := left_out(query, answers, spans):
            counts[reason] += 1
            continue
        name, kind = f"{task}-{record.identifier('qid')}", answer_kind(answers[0])
        yield Question(name, task, query, answers, kind, spans, len(spans), [])


def _relevant(record: Record) -> list[str]:
    """The ids of the passages with a positive relevance, each once."""
    metadata = record.object("metadata")
    qrels = metadata.items("qrels")
    for at, pair in enumerate(qrels):
        if not (isinstance(pair, list) and [*map(type, pair)] in _PAIRS):
            raise metadata.wrong(f"qrels[{at}]", pair, "[pid, relevance]")
    return list(dict.fromkeys(str(pid) for pid, relevance in qrels if relevance > 0))


READER = Reader("LOFT's files", read_pages, read_questions, gold="all")
