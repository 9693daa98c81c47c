"""Sources that bring their paragraphs inside each question: every distinct paragraph becomes one page."""

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

from builders.schema import Page, Question, Span
from builders.sources.answers import answer_kind, distinct_answers, left_out
from builders.sources.clean import decode_entities
from builders.sources.jsonl import Record, read_records


def page_id_of(title: str, text: str) -> str:
    """The id of a paragraph's page: 16 hexadecimal digits that depend on its raw title and text alone."""
    return blake2b(f"{title}\n{text}".encode(), digest_size=8).hexdigest()


def distinct_pages(paragraphs: Iterable[tuple[str, str]], counts: Counter[str]) -> Iterator[Page]:
    """A page for each distinct (title, text); empty and repeated ones are counted."""
    seen: set[str] = set()
    for title, text in paragraphs:
        page_id = page_id_of(title, text)
        if not text.strip():
            counts["empty_page"] += 1
        elif page_id in seen:
            counts["repeated_page"] += 1
        else:
            seen.add(page_id)
            yield Page(page_id, decode_entities(title), [title, text], [])


def read_context_pages(path: Path, counts: Counter[str], joint: str) -> Iterator[Page]:
    """The pages of questions with `context` [[title, [sentence]]], or of lines with a `title` and a `text`.

    `joint` is what stands between two sentences of a paragraph.
    """
    return distinct_pages(_paragraphs(path, counts, joint), counts)


def _paragraphs(path: Path, counts: Counter[str], joint: str) -> Iterator[tuple[str, str]]:
    for record in read_records(path):
        counts["read"] += 1
        if record.has("text"):
            yield record.text("title"), record.text("text")
        else:
            yield from ((title, joint.join(sentences)) for title, sentences in _context(record))


def read_context_questions(path: Path, task: str, counts: Counter[str], joint: str) -> Iterator[Question]:
    """The questions of a file in HotpotQA's layout, each supporting fact a span; those left out are counted.

    A fact that names no sentence is counted under `span_missing_page` or `span_bad_pid`; a question that loses all
    facts of a page has lost a hop, and is left out under `no_gold`.
    """
    return (question for question, _ in _questions(path, task, counts, joint))


def read_given_questions(
    path: Path, task: str, counts: Counter[str], joint: str
) -> Iterator[tuple[Question, list[Page]]]:
    """The same questions, each with the paragraphs that the file gives with it; empty and repeated ones are counted."""
    for question, context in _questions(path, task, counts, joint):
        yield question, list(distinct_pages(((title, joint.join(parts)) for title, parts in context), counts))


def _questions(
    path: Path, task: str, counts: Counter[str], joint: str
) -> Iterator[tuple[Question, list[tuple[str, list[str]]]]]:
    for record in read_records(path):
        counts["read"] += 1
        query = decode_entities(record.text("question")).strip()
        answers = distinct_answers([record.text("answer")] if record.has("answer") else [])
        facts, context = _facts(record), _context(record)
        spans, lost = _spans(facts, dict(context), joint, counts)
        if reason := left_out(query, answers, [] if lost else spans):
            counts[reason] += 1
            continue
        types = [record.text("type")] if record.has("type") else []
        hops = len({title for title, _ in facts})
        name = f"{task}-{record.identifier('_id')}"
        yield Question(name, task, query, answers, answer_kind(answers[0]), spans, hops, types), context


def _spans(
    facts: list[tuple[str, int]], context: dict[str, list[str]], joint: str, counts: Counter[str]
) -> tuple[list[Span], set[str]]:
    """The span of each supporting fact, and the titles of which no fact is left."""
    spans: list[Span] = []
    kept = set()
    for title, number in facts:
        sentences = context.get(title, [])
        if not 0 <= number < len(sentences) or not sentences[number].strip():
            counts["span_bad_pid" if title in context else "span_missing_page"] += 1
            continue
        start = list(accumulate((len(s) + len(joint) for s in sentences), initial=0))[number]
        first = start + len(sentences[number]) - len(sentences[number].lstrip())
        page_id = page_id_of(title, joint.join(sentences))
        spans.append(Span(page_id, 1, first, 1, start + len(sentences[number])))
        kept.add(title)
    return list(dict.fromkeys(spans)), {title for title, _ in facts} - kept


def _context(record: Record) -> list[tuple[str, list[str]]]:
    """The paragraphs of a question: title and sentences."""
    pairs = record.items("context")
    for at, pair in enumerate(pairs):
        if not (_is_pair(pair, str, list) and all(type(sentence) is str for sentence in pair[1])):
            raise record.wrong(f"context[{at}]", pair, "[title, [sentence, ...]]")
    return [(title, sentences) for title, sentences in pairs]


def _facts(record: Record) -> list[tuple[str, int]]:
    """The supporting facts: title and number of the sentence; none for a hidden test row."""
    pairs = record.items("supporting_facts") if record.has("supporting_facts") else []
    for at, pair in enumerate(pairs):
        if not _is_pair(pair, str, int):
            raise record.wrong(f"supporting_facts[{at}]", pair, "[title, number of a sentence]")
    return [(title, number) for title, number in pairs]


def _is_pair(value: object, first: type, second: type) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [first, second]
