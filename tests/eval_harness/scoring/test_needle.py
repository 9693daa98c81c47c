import pytest

from eval_harness.scoring.all_needles import ALL_NEEDLES
from eval_harness.scoring.needle import NEEDLE
from eval_harness.scoring.registry import scorer_of
from tests.eval_harness import specs


@pytest.mark.parametrize(("response", "official", "strict"), [("yuki", 0, 1), ("Yukiko", 1, 0), ("It was Yuki.", 1, 1)])
def test_one_is_enough(response: str, official: int, strict: int) -> None:
    """A name inside a longer one."""
    assert NEEDLE.score(response, ["Yuki"]) == {"needle_any": official, "needle_any_strict": strict}


def test_the_answer_is_the_informative_part() -> None:
    """The whole sentence would ask for its words again."""
    assert NEEDLE.score("X", ["X"]) == {"needle_any": 1, "needle_any_strict": 1}
    assert NEEDLE.score("X", ["Best thing in Oslo is X"]) == {"needle_any": 0, "needle_any_strict": 0}


def test_any_or_all_is_said_by_the_task() -> None:
    """Several needles are a mean."""
    assert scorer_of(specs.NEEDLES).score("123", ["123", "456"]) == {"needle_all": 0.5, "needle_all_strict": 0.5}
    assert scorer_of(specs.NEEDLE).score("b2", ["a1", "b2"]) == {"needle_any": 1, "needle_any_strict": 1}


def test_all_on_word_borders() -> None:
    assert ALL_NEEDLES.score("fOO 312", ["Foo", "12"]) == {"needle_all": 1, "needle_all_strict": 0.5}
