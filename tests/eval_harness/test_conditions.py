from eval_harness.conditions import closed_book, oracle, vanilla
from eval_harness.load import Instance, Passage

PASSAGES = [Passage(f"{n}:0", f"T{n}", f"text {n}", "gold" if n in (0, 2) else "random") for n in range(3)]
FULL = Instance("nq-1", "nq", "q", ["a"], PASSAGES, [2, 0])
NO_GOLD = Instance("nq-2", "nq", "q", ["a"], PASSAGES, [])
NO_CONTEXT = Instance("nq-3", "nq", "q", ["a"], [], [])


def test_closed_book_shows_nothing() -> None:
    """case 150"""
    assert closed_book(FULL) == []


def test_vanilla_shows_everything_in_order() -> None:
    assert vanilla(FULL) == PASSAGES


def test_oracle_shows_gold_alone_in_the_order_of_the_context() -> None:
    assert oracle(FULL) == [PASSAGES[0], PASSAGES[2]]


def test_a_condition_that_cannot_be_met_is_none_and_not_closed_book() -> None:
    """case 150"""
    assert oracle(NO_GOLD) is None
    assert vanilla(NO_CONTEXT) is None
