"""From provenance to gold passages: which spans are valid, which passages they touch, and which are gold."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal
from unicodedata import normalize

from builders.corpus import Corpus
from builders.errors import SetupError
from builders.schema import TO_THE_END, Page, Passage, Question, Quote, Span
from builders.sources.clean import clean
from builders.sources.titles import first_paragraph, title_key
from builders.text import contains, gives_away, normalise

AMBIGUOUS, UNANSWERED, UNCOVERED = "ambiguous_title", "answer_not_in_gold", "hop_without_gold"  # flags
_REASONS = ("missing_page", "bad_pid", "no_passage")  # the most severe first


def resolve(
    question: Question, corpus: Corpus, titles: Mapping[str, Sequence[int]], needs_all: bool = False
) -> tuple[Question | None, list[str]]:
    """The question with its quotes located and its spans clipped to the text, and the counts to record.

    A span is dropped if its page is not in the corpus (`missing_page`), if its paragraphs or characters are not in the
    page (`bad_pid`), or if it touches no passage, such as one in a title (`no_passage`); each is counted as
    `span_{reason}`. A question with no span left or, with `needs_all`, none left on some page is None, and counted
    once under its most severe reason. `titles` gives the numbers of the pages of each title that a quote names; a quote
    that is not found is a SetupError, but one without words means its whole page, which may be missing. A quote that
    fits several pages of its title means the one with an answer; the question is flagged, or None without such a page.
    """
    quoted: list[Span] = []
    for quote in question.quotes:
        found = _spans_of(quote, question.id, corpus, titles)
        if len(found) > 1:
            found = _answering(found, question.text_answers, corpus)
            question = question._replace(flags=tuple(dict.fromkeys((*question.flags, AMBIGUOUS))))
        if not found:
            return None, [AMBIGUOUS]
        quoted += found
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


def _answering(spans: Sequence[Span], answers: Sequence[str], corpus: Corpus) -> list[Span]:
    """The one span whose page contains an answer; none if several do, or none does."""
    rows = [[corpus.passage(row).text for row in corpus.rows_of_page(span.page_id)] for span in spans]
    found = [span for span, texts in zip(spans, rows, strict=True) if _answers_in(" ".join(texts), answers)]
    return found if len(found) == 1 else []


def _checked(span: Span, corpus: Corpus) -> Span | str:
    """The span clipped to its page's text, or why it is invalid."""
    number = corpus.page_number(span.page_id)
    if number is None:
        return "missing_page"
    page = corpus.page_at(number)
    if (span.start_character, span.end_paragraph, span.end_character) == (0, TO_THE_END, TO_THE_END):
        span = span._replace(start_paragraph=first_of(page))
    cut = _cut(span, page.paragraphs)
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


def warned(question: Question, gold: Sequence[int], corpus: Corpus, extractive: bool) -> Question:
    """The question with flags for what its gold passages, given by their rows, do not contain.

    `answer_not_in_gold`: none of them contains an answer that the task expects in a text. `hop_without_gold`: they are
    from fewer pages than the source names, of a question with several hops.
    """
    passages = [corpus.passage(row) for row in gold]
    flags = [*question.flags, *flags_of_gold(question, passages, extractive)]
    if len({one.page_id for one in passages}) < min(question.hops, len({span.page_id for span in question.provenance})):
        flags.append(UNCOVERED)
    return question._replace(flags=tuple(flags))


def flags_of_gold(question: Question, gold: Sequence[Passage], extractive: bool) -> list[str]:
    """The flag `answer_not_in_gold` where no gold passage contains an answer that the task expects in a text."""
    answers = question.text_answers if extractive else []
    held = any(gives_away(answer, text) for answer in answers for one in gold for text in (one.text, one.title))
    return [UNANSWERED] if answers and not held else []


def page_numbers_by_title(corpus: Corpus, wanted: set[str]) -> dict[str, list[int]]:
    """The numbers of the pages of each wanted title, by its `title_key`, found in one pass over all pages."""
    numbers: dict[str, list[int]] = {}
    keys = {title_key(title) for title in wanted}
    for start, batch in corpus.page_batches() if keys else ():
        for at, title in enumerate(batch.column("title").to_pylist()):
            if (key := title_key(title)) in keys:
                numbers.setdefault(key, []).append(start + at)
    return numbers


def _spans_of(quote: Quote, question_id: str, corpus: Corpus, titles: Mapping[str, Sequence[int]]) -> list[Span]:
    """A quote's first occurrence in each page of its title; without words, each whole page, or a missing one.

    Pages whose title is written as in the quote go before others with the same key.
    """
    pages = [corpus.page_at(number) for number in titles.get(title_key(quote.title), ())]
    if not quote.quote:
        same = [page for page in pages if page.title == quote.title] or pages
        ids = [page.page_id for page in same] or [f"page of {quote.title}"]
        return [Span(page_id, 1, 0, TO_THE_END, TO_THE_END) for page_id in ids]
    located = [(page, find_quote(quote.quote, page.paragraphs, first_of(page))) for page in pages]
    found = [(page.title, Span(page.page_id, at[0], at[1], at[0], at[2])) for page, at in located if at]
    if not found:
        what = f"nothing like it on page {quote.title!r}" if pages else f"no page {quote.title!r}"
        words = " ".join(quote.quote.split()[:8])
        raise SetupError(f"{question_id} quotes {words!r}: {what}; give a title and words that occur in the source")
    return [span for title, span in found if title == quote.title] or [span for _, span in found]


def first_of(page: Page) -> int:
    """The number of a page's first paragraph of text."""
    return first_paragraph(page.title, page.paragraphs)


def find_quote(quote: str, paragraphs: Sequence[str], first: int = 1) -> tuple[int, int, int] | None:
    """The paragraph and the raw characters of a quote, or None: verbatim or, failing that, with any whitespace.

    It is also looked for in both Unicode forms. Paragraphs before `first` are not text.
    """
    texts = [clean(paragraph) for paragraph in paragraphs[first:]]
    for form in dict.fromkeys((quote, normalize("NFC", quote), normalize("NFD", quote))):
        for pattern in (re.escape(form), r"\s+".join(map(re.escape, form.split()))):
            for number, paragraph in enumerate(texts, start=first):
                if pattern and (match := re.search(pattern, paragraph.text)):
                    return number, paragraph.starts[match.start()], paragraph.ends[match.end() - 1]
    return None
