"""From provenance to gold passages: which spans are valid, which passages they touch, and which are gold."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from builders.corpus import Corpus
from builders.errors import SetupError
from builders.schema import TO_THE_END, Question, Quote, Span
from builders.sources.clean import clean
from builders.text import contains, normalise

_REASONS = ("missing_page", "bad_pid", "no_passage")  # the most severe first


def resolve(
    question: Question, corpus: Corpus, titles: Mapping[str, Sequence[int]], needs_all: bool = False
) -> tuple[Question | None, list[str]]:
    """The question with its quotes located and its spans clipped to the text, and the counts to record.

    A span is dropped if its page is not in the corpus (`missing_page`), if its paragraphs or characters are not in the
    page (`bad_pid`), or if it touches no passage, such as one in a title (`no_passage`); each is counted as
    `span_{reason}`. A question with no span left or, with `needs_all`, none left on some page is None, and counted
    once under its most severe reason. `titles` gives the numbers of the pages of each title that a quote names; a quote
    that is not found is a SetupError, but one without words means its whole page, which may be missing.
    """
    quoted = [
        _span_of(quote, question.id, corpus, titles) if quote.quote else _whole_page(quote.title, corpus, titles)
        for quote in question.quotes
    ]
    kept: list[Span] = []
    lost: list[tuple[str, str]] = []
    for span in dict.fromkeys([*question.provenance, *quoted]):
        checked = _checked(span, corpus)
        if isinstance(checked, Span):
            kept.append(checked)
        else:
            lost.append((span.page_id, checked))
    counted = [f"span_{reason}" for _, reason in lost]
    missed = {reason for page_id, reason in lost if all(span.page_id != page_id for span in kept)}
    if not kept or (needs_all and missed):
        return None, [*counted, min(missed, key=_REASONS.index, default="no_gold")]
    return question._replace(provenance=list(dict.fromkeys(kept)), quotes=()), counted


def _checked(span: Span, corpus: Corpus) -> Span | str:
    """The span clipped to its page's text, or why it is invalid."""
    number = corpus.page_number(span.page_id)
    if number is None:
        return "missing_page"
    cut = _cut(span, corpus.page_at(number).paragraphs)
    if cut is None:
        return "bad_pid"
    return cut if _touched([cut], corpus) else "no_passage"


def _cut(span: Span, paragraphs: Sequence[str]) -> Span | None:
    """The span without characters past its end paragraph's end; None where it is not in the page, or empty."""
    page_id, first, start, last, end = span
    if last == TO_THE_END:
        last = len(paragraphs) - 1
    if not 0 <= first <= last < len(paragraphs) or start < 0 or end < 0:
        return None
    end = min(end, len(paragraphs[last]))
    if start >= len(paragraphs[first]) or (first, start) >= (last, end):
        return None
    return Span(page_id, first, start, last, end)


def gold_rows(question: Question, corpus: Corpus, mode: Literal["best", "all"]) -> tuple[list[int], list[int]]:
    """The rows of a resolved question's gold passages, and of the other passages that touch its provenance.

    With `all`, every passage that shares a character with a span is gold. With `best`, only the one of them that
    contains the most answers; among equals, the one that shares most characters, then the first.
    """
    touched = _touched(question.provenance, corpus)
    if mode == "all" or not touched:
        return sorted(touched), []
    # Labels, yes and no do not occur in the source as answers: containing such a word does not favour a passage.
    answers = question.text_answers
    best = min(touched, key=lambda row: (-_answers_in(corpus.passage(row).text, answers), -touched[row], row))
    return [best], sorted(touched.keys() - {best})


def _answers_in(text: str, answers: Iterable[str]) -> int:
    """The number of distinct answers in a text."""
    return len({normalise(answer) for answer in answers if contains(answer, text)})


def _touched(spans: Iterable[Span], corpus: Corpus) -> dict[int, int]:
    """The rows of the passages that share a character with a span, and how many characters they share."""
    shared: dict[int, int] = {}
    by_page: dict[str, list[Span]] = {}
    for span in spans:
        by_page.setdefault(span.page_id, []).append(span)
    for page_id, on_page in by_page.items():
        number = corpus.page_number(page_id)
        if number is None or not (rows := corpus.rows_of_page_number(number)):
            continue
        offsets = list(accumulate(map(len, corpus.page_at(number).paragraphs), initial=0))
        for row, where in zip(rows, corpus.spans(rows), strict=True):
            start, end = offsets[where[0]] + where[1], offsets[where[2]] + where[3]
            for _, first, first_at, last, last_at in on_page:
                both = min(end, offsets[last] + last_at) - max(start, offsets[first] + first_at)
                if both > 0:
                    shared[row] = shared.get(row, 0) + both
    return shared


def page_numbers_by_title(corpus: Corpus, wanted: set[str]) -> dict[str, list[int]]:
    """The numbers of the pages that have each wanted title, found in one pass over all pages."""
    numbers: dict[str, list[int]] = {}
    values = pa.array(sorted(wanted), type=pa.string())
    for start, batch in corpus.page_batches():
        titles = batch.column("title")
        for at in pc.indices_nonzero(pc.is_in(titles, value_set=values)).to_pylist():
            numbers.setdefault(titles[at].as_py(), []).append(start + at)
    return numbers


def _whole_page(title: str, corpus: Corpus, titles: Mapping[str, Sequence[int]]) -> Span:
    """All of the first page of a title; without one, a span of a missing page."""
    numbers = titles.get(title)
    page_id = corpus.page_at(numbers[0]).page_id if numbers else f"page of {title}"
    return Span(page_id, 1, 0, TO_THE_END, TO_THE_END)


def _span_of(quote: Quote, question_id: str, corpus: Corpus, titles: Mapping[str, Sequence[int]]) -> Span:
    """The span of a quote: its first occurrence in the first page of its title that has it."""
    for number in titles.get(quote.title, ()):
        page = corpus.page_at(number)
        if found := find_quote(quote.quote, page.paragraphs):
            paragraph, start, end = found
            return Span(page.page_id, paragraph, start, paragraph, end)
    what = f"no page {quote.title!r}" if quote.title not in titles else f"nothing like it on page {quote.title!r}"
    words = " ".join(quote.quote.split()[:8])
    raise SetupError(f"{question_id} quotes {words!r}: {what}; give a title and words that occur in the source")


def find_quote(quote: str, paragraphs: Sequence[str]) -> tuple[int, int, int] | None:
    """The paragraph and the raw characters of a quote, or None: verbatim or, failing that, with any whitespace."""
    exact, folded = re.escape(quote), r"\s+".join(map(re.escape, quote.split()))
    texts = [clean(paragraph) for paragraph in paragraphs[1:]]
    for pattern in (exact, folded):
        for number, paragraph in enumerate(texts, start=1):
            if pattern and (match := re.search(pattern, paragraph.text)):
                return number, paragraph.starts[match.start()], paragraph.ends[match.end() - 1]
    return None
