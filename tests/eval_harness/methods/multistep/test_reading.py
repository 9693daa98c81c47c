"""Articles cut to fit: the first N passages of each, N as large as fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.prompts import Prompt
from eval_harness.data.dataset import Passage
from eval_harness.methods.base import Question
from eval_harness.methods.limits import Limits
from eval_harness.methods.multistep.reading import OneStep, Room, first_passages, shown
from eval_harness.models.fake import FakeModel
from eval_harness.models.session import Session
from tests.eval_harness.methods.multistep.stubs import article, asked


def words(text: str) -> int:
    return len(text.split())


def texts(found: object) -> Prompt:
    """A prompt of the articles alone, so that sizes can be worked out by hand."""
    return Prompt("\n".join(one.text for one in found), [])  # type: ignore[attr-defined]


# Articles of 4, 1 and 2 passages of 3 words each: 12 + 3 + 6 words.
ARTICLES = [article("a", 4), article("b", 1), article("c", 2)]


@pytest.mark.parametrize(
    ("room", "want"),
    [
        (21, (3, 0, 0, None)),  # whole
        (20, (3, 1, 0, 3)),  # 9 + 3 + 6
        (17, (3, 1, 0, 2)),  # 6 + 3 + 6
        (14, (3, 2, 0, 1)),  # 3 + 3 + 3
        (8, (2, 1, 1, 1)),  # one passage each of the first two
        (5, (1, 1, 2, 1)),
        (2, (0, 0, 3, 1)),
    ],
)
def test_rule(room: int, want: tuple[int, int, int, int | None]) -> None:
    found = shown(texts, ARTICLES, words, room)
    assert found[1:] == want
    assert words(found.prompt.text) <= room


@given(st.lists(st.integers(1, 6), max_size=6), st.integers(0, 80))
def test_what_is_shown_fits_and_one_passage_more_would_not(lengths: list[int], room: int) -> None:
    articles = [article(str(n), length) for n, length in enumerate(lengths)]
    found = shown(texts, articles, words, room)
    assert words(found.prompt.text) <= room
    assert found.n_articles + found.n_left_out == len(articles)
    if found.n_left_out:
        assert words(texts(first_passages(articles[: found.n_articles + 1], 1)).text) > room
    elif found.passages_each:
        assert words(texts(first_passages(articles, found.passages_each + 1)).text) > room


def test_a_single_step_that_must_leave_an_article_out_does_not_fit() -> None:
    """The run marks it overlength: an oracle without one of its articles would be none."""
    question = asked().instance
    frame = words(OneStep(Room(words, 999, Limits({"qa": 8}))).prompt(question, []).text)
    many = [article(one) for one in "abcdef"]
    method = OneStep(Room(words, frame + 20 + 8, Limits({"qa": 8})))
    assert method.shown(question, many).n_left_out
    assert words(method.prompt(question, many).text) + 8 > frame + 20 + 8


def test_one_step_says_what_it_cut() -> None:
    question = asked().instance
    frame = words(OneStep(Room(words, 999, Limits({"qa": 8}))).prompt(question, [article("a", 1)]).text)
    long: Passage = article("a", 9)
    method = OneStep(Room(words, frame + 6 + 8, Limits({"qa": 8})))
    (found,) = method.answer(Session(FakeModel(lambda prompt: prompt)), [Question(question, [long], 999)])
    assert found.steps_log == [  # type: ignore[union-attr]
        {"n_articles": 1, "n_cut": 1, "n_left_out": 0, "passages_each": 3}
    ]
    assert found.generation.text.count("a2") == 3 and "a3" not in found.generation.text  # type: ignore[union-attr]
