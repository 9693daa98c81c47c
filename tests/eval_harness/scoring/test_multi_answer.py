import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.report import cells
from eval_harness.run.results import Row, Status
from eval_harness.scoring.answer_set import ANSWER_SET
from eval_harness.scoring.measures.multi_answer import listed, score_list


@pytest.mark.parametrize(
    ("golds", "predictions", "official", "strict"),
    [
        (["new york", "paris"], ["york", ""], (1, 0, 0), (0, 0, 0)),  # the prediction is never looked for in the answer
        (["Ann", "Bob", "Ann"], ["Bob"], (0, 0, 1 / 3), (0, 0, 1 / 2)),  # an answer given twice
        (["Ann", "Bob", "Ann"], ["Bob", "Ann"], (0, 1, 2 / 3), (1, 1, 1)),  # LOFT wants a prediction for each repeat
        (["Ann", "Bob"], ["Ann and Bob", "Cy"], (0, 0, 0), (0, 0, 1)),  # one prediction cannot serve for two
        (["Ann", "Bob"], ["Ann and Bob", "Ann Lee"], (1, 0, 0), (1, 0, 1)),  # only the second is free for Ann
        (["Ann"], ["the Ann!"], (1, 1, 1), (1, 1, 1)),
        (["Ann"], ["Ann", "?"], (1, 0, 1), (1, 1, 1)),  # a prediction without a word is none
        (["no"], ["know"], (1, 0, 0), (0, 0, 0)),  # a short answer inside another word
        (["Ann"], [], (0, 0, 0), (0, 0, 0)),
    ],
)
def test_sets(golds: list[str], predictions: list[str], official: tuple[float, ...], strict: tuple[float, ...]) -> None:
    """An answer given twice; the prediction is never looked for in the answer; a short answer inside another word."""
    found = score_list(predictions, golds)
    assert [found[name] for name in ("subspan_em", "em", "coverage")] == pytest.approx(list(official))
    names = ("subspan_em_strict", "em_strict", "coverage_strict")
    assert [found[name] for name in names] == pytest.approx(list(strict))


def test_answer_f1_by_hand() -> None:
    # one of 3 distinct predictions, one of 2 answers: precision 1/3, recall 1/2, F1 2 * 1 / (3 + 2)
    assert score_list(["Ann", "ann", "Cy", "Di"], ["Ann", "Bob"])["answer_f1"] == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('["a", "b, c"]', ["a", "b, c"]),
        ("['a', \"It's\"]", ["a", "It's"]),
        ("- a\n* b\n\n2. c\n3) d", ["a", "b", "c", "d"]),
        ("2001: A Space Odyssey", ["2001: A Space Odyssey"]),
        ("[not a list]", ["[not a list]"]),
        ("[{[]: 1}]", ["[{[]: 1}]"]),
        ("[1, 2]", ["1", "2"]),
        ("[]", []),
        ("  \n", []),
    ],
)
def test_the_items_of_a_text(text: str, items: list[str]) -> None:
    assert listed(text) == items


@given(st.text(alphabet="[]{}()'\",\\: 1ab-\n") | st.text())
def test_any_text_has_items(text: str) -> None:
    assert all(isinstance(item, str) for item in listed(text))


def row(id: str, status: Status, scores: dict[str, float]) -> Row:
    return Row(id, "quest", "set", "set", "1k_p0", "test", "vanilla", "vanilla_rag", "fake", status, scores)


def test_every_mean_has_the_same_denominator() -> None:
    """An empty prediction counts in each metric (in LOFT coverage 1 over n=2, F1 0 over n=1)."""
    scorer = ANSWER_SET
    right, wrong = scorer.score("a", ["a"]), scorer.score("", ["a"])
    [cell] = cells([row("1", "ok", right), row("2", "unparsed", wrong), row("3", "ok", right)])
    assert cell.n == 3
    assert set(cell.means) == set(ANSWER_SET.metrics)
    assert [cell.means[name] for name in ANSWER_SET.metrics] == pytest.approx([2 / 3] * len(ANSWER_SET.metrics))
