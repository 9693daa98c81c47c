import pytest

from eval_harness.conditions.base import closed_book, oracle, retrieved, vanilla
from eval_harness.conditions.ranking import Retrieval
from eval_harness.data.dataset import Instance, Passage
from tests.eval_harness.specs import NQ

PASSAGES = [Passage(f"{n}:0", f"T{n}", f"text {n}", "gold" if n in (0, 2) else "random") for n in range(3)]
FULL = Instance("nq-1", NQ, "q", ["a"], PASSAGES, [2, 0])
NO_GOLD = Instance("nq-2", NQ, "q", ["a"], PASSAGES, [])
NO_CONTEXT = Instance("nq-3", NQ, "q", ["a"], [], [])


def test_closed_book_shows_nothing() -> None:
    """The conditions use the same instances."""
    assert closed_book(FULL) == []


def test_vanilla_shows_everything_in_order() -> None:
    assert vanilla(FULL) == PASSAGES


def test_oracle_shows_gold_alone_in_the_order_of_the_context() -> None:
    assert oracle(FULL) == [PASSAGES[0], PASSAGES[2]]


def test_a_condition_that_cannot_be_met_is_none_and_not_closed_book() -> None:
    """The conditions use the same instances."""
    assert oracle(NO_GOLD) is None
    assert vanilla(NO_CONTEXT) is None
    assert retrieved(Retrieval(), "bm25", 16)(NO_CONTEXT) is None


@pytest.mark.parametrize(("k", "want"), [(1, ["2:0"]), (2, ["0:0", "2:0"]), (9, ["0:0", "1:0", "2:0"])])
def test_retrieved_shows_the_k_best_in_the_order_of_the_context(k: int, want: list[str]) -> None:
    """The second word of the query stands in passage 2, the first in 2 and 0, so that their ranks are 2, 0, 1."""
    texts = ["amber", "chalk", "amber basalt"]
    passages = [Passage(f"{n}:0", "", text, "random") for n, text in enumerate(texts)]
    instance = Instance("nq-1", NQ, "amber basalt", ["a"], passages, [0])
    shown = retrieved(Retrieval(), "bm25", k)(instance)
    assert [passage.pid for passage in shown or []] == want
