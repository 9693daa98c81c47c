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
from builders.sources.titles import by_title, title_key
from builders.text import composed, first_answer_in

AMBIGUOUS = "ambiguous_title"


def page_id_of(title: str, text: str) -> str:
    """The id of a paragraph's page: 16 hexadecimal digits that depend on its title and text alone.

    It is the same in every Unicode form, and with underscores or several spaces in the title.
    """
    spaced = " ".join(composed(title).replace("_", " ").split())
    return blake2b(f"{spaced}\n{composed(text)}".encode(), digest_size=8).hexdigest()


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

    `joint` is put between the sentences of a paragraph.
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
    facts of a page has lost a hop, and is left out under `no_gold`. Of several paragraphs with the title of a fact the
    one with the answer is meant, and the question is flagged `ambiguous_title`; without exactly one it is left out
    under that name.
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
        meant = _Meant(facts, context, joint, answers)
        spans = meant.spans(facts, counts)
        reason = left_out(query, answers, [] if meant.lost else spans)
        if reason := AMBIGUOUS if meant.unclear and reason in (None, "no_gold") else reason:
            counts[reason] += 1
            continue
        types = [record.text("type")] if record.has("type") else []
        name, kind = f"{task}-{record.identifier('_id')}", answer_kind(answers[0])
        flags = (AMBIGUOUS,) if meant.chosen else ()
        yield Question(name, task, query, answers, kind, spans, len(meant.titles), types, flags=flags), context


class _Meant:
    """Which paragraph each title of a question's facts means: the one of this title in which its facts exist.

    Among several it is the one with the answer (`chosen`); without exactly one, the title is `unclear`.
    """

    def __init__(
        self, facts: list[tuple[str, int]], context: list[tuple[str, list[str]]], joint: str, answers: list[str]
    ) -> None:
        self._joint, self._answers = joint, [a for a in answers if answer_kind(answers[0]) == "text"]
        self._context = by_title((title, (title, sentences)) for title, sentences in context)
        self.titles = by_title(facts)
        self.chosen = self.unclear = False
        self._meant = {key: self._paragraph(key, numbers) for key, numbers in self.titles.items()}
        self.lost = set(self.titles)  # titles of which no fact is left

    def spans(self, facts: list[tuple[str, int]], counts: Counter[str]) -> list[Span]:
        """The span of each fact; one that is not there is counted."""
        spans = []
        for title, number in facts:
            key = title_key(title)
            found = self._meant[key]
            if found is None:
                continue
            name, sentences = found
            if not _exists(sentences, number):
                counts["span_bad_pid" if key in self._context else "span_missing_page"] += 1
                continue
            start = list(accumulate((len(s) + len(self._joint) for s in sentences), initial=0))[number]
            first = start + len(sentences[number]) - len(sentences[number].lstrip())
            page_id = page_id_of(name, self._joint.join(sentences))
            spans.append(Span(page_id, 1, first, 1, start + len(sentences[number])))
            self.lost.discard(key)
        return list(dict.fromkeys(spans))

    def _paragraph(self, key: str, numbers: list[int]) -> tuple[str, list[str]] | None:
        """The title and sentences of the paragraph that is meant; None where that is unclear."""
        distinct = {
            page_id_of(title, self._joint.join(parts)): (title, parts) for title, parts in self._context.get(key, [])
        }
        whole = [one for one in distinct.values() if all(_exists(one[1], number) for number in numbers)]
        found = whole or list(distinct.values()) or [(key, [])]
        if len(found) == 1:
            return found[0]
        for read in (lambda parts: parts, lambda parts: [parts[n] for n in numbers if _exists(parts, n)]):
            holding = [one for one in found if first_answer_in(self._joint.join(read(one[1])), self._answers)]
            if len(holding) == 1:
                self.chosen = True
                return holding[0]
        self.unclear = True
        return None


def _exists(sentences: list[str], number: int) -> bool:
    return 0 <= number < len(sentences) and bool(sentences[number].strip())


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
