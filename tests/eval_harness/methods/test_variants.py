"""Targets, by hand."""

from typing import Any

import pytest

from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.variants import VARIANTS, Variant, answer_of, target
from tests.eval_harness.specs import SPECS

PASSAGES = [
    Passage("a:0", "Peru", "Lima is its capital.", "gold"),
    Passage("b:0", "Snow", "Snow melts.", "random"),
    Passage("c:0", "Lima", "A city by the sea.", "gold"),
]


def made(task: str = "hotpotqa", answers: tuple[str, ...] = ("Lima",), gold: tuple[int, ...] = (2, 0)) -> Instance:
    """An instance over the three passages."""
    return Instance(f"{task}-1", SPECS[task], "which city", list(answers), PASSAGES, list(gold))


@pytest.mark.parametrize(
    ("variant", "marks", "wanted"),
    [
        ("da", True, "Lima"),
        ("da", False, "Lima"),
        (
            "rta",
            True,
            "<RETRIEVAL>ID: 1\nTitle: Peru\nContext: Lima is its capital.\n"
            "ID: 3\nTitle: Lima\nContext: A city by the sea.\n</RETRIEVAL>\nLima",
        ),
        (
            "rta",
            False,
            "ID: 1\nTitle: Peru\nContext: Lima is its capital.\n"
            "ID: 3\nTitle: Lima\nContext: A city by the sea.\n\nAnswer: Lima",
        ),
        ("cci", True, "<RETRIEVAL>[1][3]</RETRIEVAL>\nLima"),
        ("cci", False, "[1][3]\nAnswer: Lima"),
    ],
)
def test_gold_stands_in_the_order_of_the_context_and_then_the_answer(
    variant: Variant, marks: bool, wanted: str
) -> None:
    assert target(made(), PASSAGES, variant, marks) == wanted


def test_numbers_are_those_of_the_passages_shown() -> None:
    assert target(made(), PASSAGES[1:], "cci") == "<RETRIEVAL>[2]</RETRIEVAL>\nLima"


def test_the_answer_learned_is_the_canonical_one_never_an_alias() -> None:
    """Answer `David N.`, alias `Some Book`."""
    for variant in VARIANTS:
        found = target(made("nq", ("David N.", "Some Book")), PASSAGES, variant)
        assert found.endswith("David N.")
        assert "Some Book" not in found
    assert answer_of(made("nq", ("<unk>", "Some Book"))) is None


@pytest.mark.parametrize(
    ("task", "answers", "wanted"),
    [
        ("fever", ["SUPPORTS"], "TRUE"),
        ("fever", ["REFUTES"], "FALSE"),
        ("fever", ["NOT ENOUGH INFO"], None),
        ("wow", [" Petra is old. "], "Petra is old."),
        ("nq", [], None),
        ("nq", ["..."], None),
    ],
)
def test_an_answer_is_what_the_prompt_asks_for(task: str, answers: list[str], wanted: Any) -> None:
    assert answer_of(made(task, tuple(answers))) == wanted


def test_without_an_answer_there_is_no_target() -> None:
    with pytest.raises(ValueError, match="nq-1 has no answer"):
        target(made("nq", ("<unk>",)), PASSAGES, "da")
