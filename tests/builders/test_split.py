from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.errors import SetupError
from builders.schema import Question
from builders.split import Splitter, checked_ids
from builders.text import normalise


def question(id: str, query: str = "") -> Question:
    return Question(id, "nq", query or f"query {id}", ["x"], "text", [], 1, [])


@given(st.permutations(range(30)))
def test_splits_do_not_meet_or_depend_on_the_order_of_the_source(order: list[int]) -> None:
    """First and last rows of one list overlap; a deal cannot."""
    questions = [question(str(n)) for n in range(30)]
    dealt = _deal([questions[n] for n in order])
    assert dealt == _deal(questions)
    assert not {q.id for q in dealt[0]} & {q.id for q in dealt[1]}
    assert [len(part) for part in dealt] == [20, 10]


def _deal(questions: list[Question]) -> list[list[Question]]:
    splitter = Splitter("v1")
    return [splitter.take(questions, 20, Counter()), splitter.take(questions, 15, Counter())]


def test_no_query_twice() -> None:
    """One input twice."""
    counts: Counter[str] = Counter()
    splitter = Splitter("v1")
    same = [question("1", "Who is it?"), question("2", "who  is it"), question("3", "Who was it?")]
    taken = splitter.take(same, 3, counts)
    assert len({normalise(q.query) for q in taken}) == len(taken) == 2
    assert (counts["dup_input"], counts["too_few"]) == (1, 1)
    assert splitter.take([question("9", "WHO IS IT")], 1, counts) == []


def test_a_question_that_stands_in_another_split_is_no_duplicate() -> None:
    counts: Counter[str] = Counter()
    splitter = Splitter("v1")
    questions = [question("1"), question("2")]
    assert len(splitter.take(questions, 1, counts)) == len(splitter.take(questions, 1, counts)) == 1
    assert +counts == Counter()


def test_repeated_ids_are_named() -> None:
    """One id with two queries."""
    with pytest.raises(SetupError, match=r"nq\.jsonl: 44 occur in several"):
        checked_ids([question("44", "a"), question("44", "b"), question("5")], "nq.jsonl")
