"""Other notations of an answer."""

import pytest

from validation.notation import other_notations


@pytest.mark.parametrize(
    ("answer", "written"),
    [
        ("march 5 1871", "5 march 1871"),
        ("march 5 1871", "5th of march 1871"),
        ("march 5 1871", "1871 03 05"),
        ("1871 03 05", "march 5 1871"),
        ("22nd of march 1871", "march 22 1871"),
        ("11 may 1900", "may 11th 1900"),
        ("1234567", "1 234 567"),
        ("1 234 567", "1234567"),
        ("population 12 500", "population 12500"),
        ("12500 people", "12 500 people"),
    ],
)
def test_is_written_otherwise(answer: str, written: str) -> None:
    assert written in other_notations(answer)


@pytest.mark.parametrize("answer", ["paris", "1999", "march 1871", "1999 13 05", "32 march 1871", "5", "route 66"])
def test_has_one_notation(answer: str) -> None:
    assert other_notations(answer) == set()


def test_leaves_itself_out() -> None:
    assert "5 march 1871" not in other_notations("5 march 1871")
