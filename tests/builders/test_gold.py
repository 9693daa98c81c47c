"""Which spans are valid, which passages they touch, and which of those are gold."""

from collections import Counter
from pathlib import Path

import pytest

from builders.bundled import bundled_file
from builders.corpus import Corpus
from builders.errors import SetupError
from builders.gold import find_quote, gold_rows, page_numbers_by_title, resolve
from builders.schema import TO_THE_END, Page, Question, Quote, Span
from builders.sources import intros, kilt
from builders.text import contains
from tests.builders.small_corpus import page, small_corpus

DEMO = Path(kilt.__file__).parents[1] / "demo"


def question(*spans: Span, answers: tuple[str, ...] = ("x",), quotes: tuple[Quote, ...] = ()) -> Question:
    kind = "label" if answers[0] in ("SUPPORTS", "REFUTES") else "yesno" if answers[0] == "yes" else "text"
    return Question("q", "task", "query", list(answers), kind, list(spans), 1, [], quotes)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Page 1 has passages 0 to 3, of three words each; page 2 has passage 4; page 3 has passages 5 and 6."""
    return small_corpus(
        tmp_path,
        [
            page("1", "One", "Aa bb cc. Dd ee ff.\n", "Section::::More\n", "Gg hh ii.\n", "Jj kk ll."),
            page("2", "Two", "Aa bb cc."),
            page("3", "Two", "A&amp;B  x y. Some NYC text."),
        ],
        words=3,
    )


@pytest.mark.parametrize(
    "span, reason",
    [
        (Span("9", 1, 0, 1, 5), "missing_page"),
        (Span("1", 9, 0, 9, 5), "bad_pid"),
        (Span("1", -1, 0, -1, 5), "bad_pid"),
        (Span("1", 1, 0, 9, 5), "bad_pid"),
        (Span("1", 3, 0, 1, 5), "bad_pid"),
        (Span("1", 1, 20, 1, 25), "bad_pid"),
        (Span("1", 1, 20, 3, 5), "bad_pid"),
        (Span("1", 1, -3, 1, 5), "bad_pid"),
        (Span("1", 1, 4, 1, 4), "bad_pid"),
        (Span("1", 1, 4, 1, 2), "bad_pid"),
        (Span("1", 1, 4, 3, -2), "bad_pid"),
        (Span("1", 0, 0, 0, 3), "no_passage"),
        (Span("1", 2, 0, 2, 7), "no_passage"),
        (Span("1", 1, 9, 1, 10), "no_passage"),
    ],
)
def test_spans_that_do_not_hold(corpus: Corpus, span: Span, reason: str):
    """A paragraph that does not exist."""
    assert resolve(question(span), corpus, {}) == (None, [f"span_{reason}", reason])


def test_good_spans_stay_where_others_are_bad(corpus: Corpus):
    good, bad, missing = Span("1", 1, 0, 1, 5), Span("1", 9, 0, 9, 5), Span("9", 1, 0, 1, 5)
    kept, counted = resolve(question(bad, good, missing), corpus, {})
    assert kept == question(good) and counted == ["span_bad_pid", "span_missing_page"]
    assert resolve(question(bad, good), corpus, {}, needs_all=True)[0] == question(good)


def test_question_that_needs_all_pages_is_left_out_without_one(corpus: Corpus):
    good, bad, missing = Span("1", 1, 0, 1, 5), Span("2", 9, 0, 9, 5), Span("9", 1, 0, 1, 5)
    assert resolve(question(good, bad), corpus, {}, needs_all=True) == (None, ["span_bad_pid", "bad_pid"])
    assert resolve(question(good, bad, missing), corpus, {}, needs_all=True)[1][-1] == "missing_page"
    assert resolve(question(bad, missing), corpus, {})[1] == ["span_bad_pid", "span_missing_page", "missing_page"]


def test_question_without_provenance_is_left_out(corpus: Corpus):
    """Answers without provenance."""
    assert resolve(question(), corpus, {}) == (None, ["no_gold"])


def test_end_belongs_to_the_end_paragraph(tmp_path: Path):
    """The end counts in its own paragraph: "ef" and "gh", not characters 4 to 2 of paragraph 1."""
    corpus = small_corpus(tmp_path, [Page("1", "T", ["T", "abcdef", "ghij"], [])], words=1)
    span = Span("1", 1, 4, 2, 2)
    assert resolve(question(span), corpus, {}) == (question(span), [])
    assert gold_rows(question(span), corpus, "all") == ([0, 1], [])


def test_characters_past_the_end_are_cut(corpus: Corpus):
    assert resolve(question(Span("1", 3, 3, 3, 99)), corpus, {})[0] == question(Span("1", 3, 3, 3, 10))
    whole = Span("1", 1, 0, TO_THE_END, TO_THE_END)
    assert resolve(question(whole), corpus, {})[0] == question(Span("1", 1, 0, 4, 9))
    assert gold_rows(question(Span("1", 1, 0, 4, 9)), corpus, "all") == ([0, 1, 2, 3], [])


@pytest.mark.parametrize(
    "span, rows",
    [
        (Span("1", 1, 0, 1, 9), [0]),
        (Span("1", 1, 0, 1, 10), [0]),
        (Span("1", 1, 8, 1, 11), [0, 1]),
        (Span("1", 1, 18, 3, 1), [1, 2]),
        (Span("1", 1, 18, 4, 0), [1, 2]),
        (Span("2", 1, 0, 1, 9), [4]),
    ],
)
def test_touching_is_sharing_a_character(corpus: Corpus, span: Span, rows: list[int]):
    assert gold_rows(question(span), corpus, "all") == (rows, [])


def test_all_pages_of_a_yes_no_question_are_gold(corpus: Corpus):
    """Yes and no are kept."""
    spans = Span("1", 1, 0, 1, 5), Span("2", 1, 0, 1, 5)
    assert gold_rows(question(*spans, answers=("yes",)), corpus, "all") == ([0, 4], [])


def test_best_passage_holds_most_answers(corpus: Corpus):
    spans = Span("1", 1, 0, 1, 19), Span("3", 1, 0, 1, 28)
    assert gold_rows(question(*spans, answers=("New York City", "NYC")), corpus, "best") == ([6], [0, 1, 5])
    assert gold_rows(question(*spans, answers=("ff", "FF", "NYC", "text")), corpus, "best") == ([6], [0, 1, 5])


def test_equal_passages_go_by_characters_then_by_order(corpus: Corpus):
    assert gold_rows(question(Span("1", 1, 7, 1, 19)), corpus, "best") == ([1], [0])
    assert gold_rows(question(Span("1", 1, 0, 1, 19)), corpus, "best") == ([0], [1])


def test_labels_are_not_looked_for(tmp_path: Path):
    """Labels are not text of the source: "supports" in a text does not indicate gold."""
    corpus = small_corpus(tmp_path, [page("1", "T", "One two three four.", "It supports.")], words=4)
    assert gold_rows(question(Span("1", 1, 0, 2, 12), answers=("SUPPORTS",)), corpus, "best") == ([0], [1])


def test_answer_in_a_passage_does_not_make_it_gold(corpus: Corpus):
    """Row 6 contains the answer, but no provenance."""
    assert gold_rows(question(Span("1", 1, 0, 1, 9), answers=("NYC",)), corpus, "best") == ([0], [])


def test_answers_are_never_narrowed(corpus: Corpus):
    """The gold passage contains only the second alias."""
    asked = question(Span("3", 1, 15, 1, 28), answers=("New York City", "NYC"))
    kept, _ = resolve(asked, corpus, {})
    assert kept and kept.answers == ["New York City", "NYC"]


def test_quotes(corpus: Corpus):
    titles = page_numbers_by_title(corpus, {"Two", "Nowhere"})
    assert titles == {"Two": [1, 2]}
    kept, counted = resolve(question(quotes=(Quote("Two", "A&B x y."), Quote("Two", "bb cc"))), corpus, titles)
    assert kept == question(Span("3", 1, 0, 1, 13), Span("2", 1, 3, 1, 8)) and counted == []


def test_a_quote_without_words_is_its_whole_page(corpus: Corpus):
    """FRAMES names only pages; a missing one is counted, and a question that needs all is excluded."""
    titles = page_numbers_by_title(corpus, {"One", "Gone"})
    one, gone = Quote("One", ""), Quote("Gone", "")
    kept, counted = resolve(question(quotes=(one,)), corpus, titles, needs_all=True)
    assert kept == question(Span("1", 1, 0, 4, 9)) and counted == []
    assert gold_rows(kept, corpus, "all") == ([0, 1, 2, 3], [])
    left_out = resolve(question(quotes=(one, gone)), corpus, titles, needs_all=True)
    assert left_out == (None, ["span_missing_page", "missing_page"])


@pytest.mark.parametrize("title, what", [("Two", "nothing like it on page 'Two'"), ("Gone", "no page 'Gone'")])
def test_quote_that_is_not_there(corpus: Corpus, title: str, what: str):
    """Evidence with other whitespace."""
    asked = question(quotes=(Quote(title, "one two three four five six seven eight nine"),))
    with pytest.raises(SetupError, match=f"q quotes 'one two three four five six seven eight': {what}"):
        resolve(asked, corpus, page_numbers_by_title(corpus, {title}))


@pytest.mark.parametrize(
    "quote, paragraphs, want",
    [
        ("a  b", ["T", "x a b"], (1, 2, 5)),
        ("a b", ["T", "x a\u00a0\n b."], (1, 2, 7)),
        ("a b", ["T", "a\tb", "a b"], (2, 0, 3)),
        ("a.b", ["T", "a+b axb"], None),
        ("T", ["T", "x"], None),
        ("", ["T", "x"], None),
        (" ", ["T", "x"], None),
    ],
)
def test_find_quote(quote: str, paragraphs: list[str], want: tuple[int, int, int] | None):
    """As it is first, then with any whitespace for any other; never in the title."""
    assert find_quote(quote, paragraphs) == want


def test_demo_questions(tmp_path: Path):
    counts: Counter[str] = Counter()
    corpus = small_corpus(tmp_path, list(intros.read_pages(bundled_file("intros"), counts)))
    asked = [
        q
        for task in ("nq", "hotpotqa", "fever", "wow")
        for q in kilt.read_questions(DEMO / f"{task}.jsonl", task, counts)
    ]
    assert len(asked) == 160
    titles = page_numbers_by_title(corpus, {quote.title for q in asked for quote in q.quotes})
    for one in asked:
        resolved, counted = resolve(one, corpus, titles, needs_all=True)
        assert resolved and counted == []
        gold, _ = gold_rows(resolved, corpus, "all" if one.task == "hotpotqa" else "best")
        passages = [corpus.passage(row) for row in gold]
        assert len({p.page_id for p in passages}) == (2 if one.task == "hotpotqa" else 1)
        if one.task == "nq":
            assert any(contains(answer, passages[0].text) for answer in one.answers)


def test_all_real_provenance_holds(tmp_path: Path, shared_data: Path):
    folder, counts = shared_data / "kilt_mini", Counter[str]()
    corpus = small_corpus(tmp_path, list(kilt.read_pages(folder / "kilt_knowledgesource.json", counts)))
    for task in ("nq", "hotpotqa", "fever", "wow"):
        for one in kilt.read_questions(folder / f"{task}-dev-kilt.jsonl", task, counts):
            resolved, counted = resolve(one, corpus, {}, needs_all=True)
            assert resolved and counted == []
            gold, barred = gold_rows(resolved, corpus, "all" if task == "hotpotqa" else "best")
            assert gold and not set(gold) & set(barred)
            if task == "hotpotqa":
                assert {corpus.passage(row).page_id for row in gold} == {s.page_id for s in one.provenance}


def test_ids_and_not_names_decide(tmp_path: Path):
    """A page and its disambiguation page share a title; only the page with the id is gold."""
    band, other = page("10", "Gordi (band)", "Gordi is a band."), page("11", "Gordi", "Gordi may refer to a band.")
    corpus = small_corpus(tmp_path, [band, other])
    assert gold_rows(question(Span("10", 1, 0, 1, 5)), corpus, "all") == ([0], [])
