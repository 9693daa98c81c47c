from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.filters import AnswerFilter, answer_flags, drop_reasons, judged
from builders.schema import Passage
from builders.text import gives_away

LONG = "The river rises in the hills of the north and runs for ninety miles through five old towns to the sea"


def reasons(
    texts: Sequence[str], answers: Sequence[str] = (), gold: str = "Gold text of no one.", barred: Sequence[int] = ()
) -> list[str | None]:
    candidates = [Passage(row, "p", "Title", text) for row, text in enumerate(texts, start=1)]
    return drop_reasons(candidates, [Passage(0, "p", "Gold", gold)], barred, answers, AnswerFilter())


def test_short_answers_do_not_empty_the_pool() -> None:
    """Short answers: "no" is only a substring of "northern", and "A" is a word of one passage only."""
    texts = ["The northern coast is long.", "Oslo has trams.", "A cat sat."]
    assert reasons(texts, ["no"]) == [None, None, None]
    assert reasons(texts, ["A"]) == [None, None, "contains_answer"]
    assert answer_flags(["A"], "text") == ["article_answer"]


@pytest.mark.parametrize(
    ("answer", "text", "dropped"),
    [
        ("C++", "Vitamin C is an acid.", False),
        ("C++", "Written in C++.", True),
        ("-5", "It has 5 legs.", False),
        ("1000", "Some 1,000 people came.", True),
        ("29.00", "She was 29 then.", True),
        ("Straße", "IN DER STRASSE", True),
        (".NET", "Fish in a net.", False),
        (".NET", "Written for .NET.", True),
        ("A*", "Vitamin A is one.", False),
        ("A*", "Found by A* search.", True),
        ("$5", "It costs 5 dollars.", True),
        ("$5", "It has 5 legs.", True),  # as for `50%`: the unit may be spelled in many ways
        ("2024", "سنة ٢٠٢٤", True),
    ],
)
def test_marks_numbers_and_case(answer: str, text: str, dropped: bool) -> None:
    assert reasons([text], [answer]) == ["contains_answer" if dropped else None]
    assert AnswerFilter().hits([answer], [Passage(1, "p", text, "Oslo")]) == [
        answer if dropped else None
    ]  # in the title


def test_a_title_is_apart_from_its_text() -> None:
    """A number at the end of a title does not make a range of a sign at the beginning of the text."""
    assert AnswerFilter().hits(["-5"], [Passage(1, "p", "Route 66", "-5 is cold.")]) == ["-5"]


def test_answers_with_marks_are_flagged() -> None:
    assert answer_flags(["-5"], "text") == answer_flags(["C", "C++"], "text") == ["marked_answer"]
    assert answer_flags(["A+"], "text") == answer_flags(["A*"], "text") == ["marked_answer"]  # no article
    assert answer_flags([".NET"], "text") == answer_flags(["€5"], "text") == ["marked_answer"]
    assert answer_flags(["29.00"], "text") == []


def test_an_empty_answer_matches_nothing() -> None:
    assert reasons(["Oslo has trams.", "??"], ["??", ""]) == [None, None]
    assert answer_flags(["??"], "text") == ["unmatchable_answer"]


@pytest.mark.parametrize("kind", ["label", "yesno"])
def test_labels_have_no_answer_filter(kind: str) -> None:
    """Labels are not text of the source."""
    assert answer_flags(["REFUTES"], kind) == ["answer_filter_not_applicable"]  # type: ignore[arg-type]


def test_all_aliases_count_in_text_and_title() -> None:
    """Every alias counts."""
    assert reasons(["He left New York City."], ["NYC", "New York City"]) == ["contains_answer"]
    titled = [Passage(1, "p", "NYC (song)", "A tune.")]
    assert drop_reasons(titled, [Passage(0, "p", "G", "x y z")], [], ["NYC"], AnswerFilter()) == ["contains_answer"]


def test_a_copy_of_gold_is_dropped_and_its_sibling_kept() -> None:
    """Near copies of gold."""
    gold = "Paris is the capital of France."
    assert reasons(["Paris  is the capital of France .", "Paris has many bridges."], gold=gold) == [
        "gold_overlap",
        None,
    ]


def test_a_passage_that_touches_a_provenance_is_barred() -> None:
    assert reasons(["One text.", "Another one."], barred=[2]) == [None, "gold_overlap"]


def test_the_later_of_two_near_copies_is_dropped() -> None:
    assert reasons([LONG, "Oslo has trams.", LONG.upper() + "!"]) == [None, None, "near_duplicate"]


def test_near_is_nine_tenths_of_the_smaller_ones_bigrams() -> None:
    words = [f"w{n}" for n in range(21)]  # 20 bigrams
    eighteen = [*words[:19], "x1", "x2"]  # shares 18 of 20
    seventeen = [*words[:18], "x1", "x2", "x3"]  # shares 17 of 20
    assert reasons([" ".join(words), " ".join(eighteen)]) == [None, "near_duplicate"]
    assert reasons([" ".join(words), " ".join(seventeen)]) == [None, None]
    assert reasons([" ".join(words), " ".join(words[3:14])]) == [None, "near_duplicate"]  # an excerpt


def test_a_dropped_candidate_does_not_drop_its_copy_as_near_duplicate() -> None:
    texts = [LONG + " at Bergen", LONG]
    assert reasons(texts, ["Bergen"]) == ["contains_answer", None]


WORDS = st.sampled_from(
    [
        "no",
        "known",
        "a",
        "the",
        "Oslo",
        "new",
        "york",
        "U.S.",
        "é",
        "12",
        "312",
        "C++",
        "C",
        "-12",
        "12.0",
        "1,000",
        "1000",
    ]
)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), max_size=3), st.lists(st.lists(WORDS, max_size=8), max_size=5))
def test_the_fast_answer_filter_is_the_rule(answers: list[list[str]], texts: list[list[str]]) -> None:
    joined = [" ".join(answer) for answer in answers]
    candidates = [Passage(n, "p", "T", " ".join(words)) for n, words in enumerate(texts)]
    found = AnswerFilter().hits(joined, candidates)
    assert [hit is not None for hit in found] == [any(gives_away(a, c.text) for a in joined) for c in candidates]


def test_a_near_duplicate_names_the_kept_one() -> None:
    """Places count candidates, not gold; of several kept ones it is the first."""
    words = " ".join(f"w{n}" for n in range(40))
    other = " ".join(f"v{n}" for n in range(40))
    found = [Passage(n, f"p:{n}", "T", text) for n, text in enumerate(["gold text", other, words, words, words])]
    verdicts = judged(found[1:], found[:1], (), [], AnswerFilter())
    assert verdicts == [(None, None), (None, None), ("near_duplicate", 1), ("near_duplicate", 1)]
