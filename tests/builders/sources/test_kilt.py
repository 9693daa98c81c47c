"""KILT's files and their quirks, on hand-made records."""

from collections import Counter
from pathlib import Path

import pytest

from builders.schema import TO_THE_END, Question, Quote, Span
from builders.sources.kilt import read_pages, read_questions
from builders.sources.titles import title_of

FIXTURES = Path(__file__).parents[2] / "fixtures" / "kilt"


@pytest.fixture
def questions() -> dict[str, Question]:
    return {q.id: q for q in read_questions(FIXTURES / "questions.jsonl", "nq", Counter())}


def test_pages():
    counts: Counter[str] = Counter()
    tom, gordi, short = read_pages(FIXTURES / "knowledge.jsonl", counts)
    assert counts == {"read": 4, "empty_page": 1}
    assert tom.title == "Tom & Jerry"  # HTML entities
    assert tom.paragraphs[:2] == ["Tom &amp; Jerry\n", "Tom &amp; Jerry is a series. It began in 1940.\n"]
    assert tom.anchors == [("cat", "Cat"), ("mouse", "House mouse"), ("AT&T", "AT&T")]
    assert (gordi.page_id, gordi.anchors) == ("11", [])
    assert len(short.paragraphs) == 5


@pytest.mark.parametrize(
    "href, title",
    [
        ("Groundhog_Day#History", "Groundhog Day"),
        ("Groundhog%20Day", "Groundhog Day"),
        ("anarcho-capitalism", "Anarcho-capitalism"),
        ("%C3%89mile%20Zola", "Émile Zola"),
        ("#top", ""),
    ],
)
def test_title_of_a_link(href: str, title: str):
    """A page linked in several forms."""
    assert title_of(href) == title


def test_left_out_records_are_counted():
    """Answers without provenance; no answer, or `<unk>`."""
    counts: Counter[str] = Counter()
    kept = list(read_questions(FIXTURES / "questions.jsonl", "nq", counts))
    assert counts == {"read": 10, "no_gold": 1, "no_answer": 2, "empty_input": 1}
    assert len(kept) == 6


def test_answers_and_provenance_are_collected_over_all_outputs(questions):
    """The canonical answer is first; entities; each answer once."""
    question = questions["nq-7"]
    assert question.query == 'who is "Tom"'
    assert question.answers == ["a cat", "Tom & co"]
    assert question.provenance == [Span("10", 3, 12, 3, 25), Span("10", 1, 0, 1, 30), Span("13", 1, 4, 2, 2)]
    assert (question.answer_kind, question.hops, question.reasoning_types) == ("text", 2, [])


def test_answer_and_provenance_in_different_outputs(questions):
    """A provenance that names a page alone is the whole page."""
    question = questions["nq-apart"]
    assert question.answers == ["x"]
    assert question.provenance == [Span("242", 1, 0, TO_THE_END, TO_THE_END)]


def test_dates_stay_strings(questions):
    """Dates stay text."""
    assert questions["nq-date"].answers == ["2012-08-15", "1999-01-01"]


def test_kinds_of_answers(questions):
    """Yes is kept, with both of its pages. Which answers are labels, the recipe's task says."""
    assert (questions["nq-claim"].answers, questions["nq-claim"].answer_kind) == (["SUPPORTS"], "text")
    assert questions["nq-yes"].answer_kind == "yesno"
    assert [span.page_id for span in questions["nq-yes"].provenance] == ["10", "11"]
    assert (questions["nq-yes"].hops, questions["nq-yes"].reasoning_types) == (3, ["comparison"])


def test_provenance_by_quote(questions):
    question = questions["nq-quote"]
    assert question.quotes == (Quote("Gordi", "Gordi is a singer."),)
    assert (question.provenance, question.hops) == ([], 1)


def test_real_files(shared_data: Path):
    folder = shared_data / "kilt_mini"
    counts: Counter[str] = Counter()
    assert sum(1 for _ in read_pages(folder / "kilt_knowledgesource.json", counts)) == 27063
    for task, n in {"nq": 593, "hotpotqa": 732, "fever": 800, "wow": 600}.items():
        assert sum(1 for _ in read_questions(folder / f"{task}-dev-kilt.jsonl", task, counts)) == n
    assert counts == {"read": 27063 + 2725}
