"""No mutated record, and no mutated recipe, ends in a traceback."""

from collections import Counter
from random import Random

from tests.fire_sources import SEEDS, file_of, fire, mutated, outcome


def test_nothing_ends_in_a_traceback() -> None:
    outcomes = fire("tests", 300)
    assert outcomes.total() == 300
    assert {name.split(": ")[1] for name in outcomes} == {"accepted", "one line"}


def test_the_same_seed_makes_the_same_inputs() -> None:
    for name in SEEDS:
        assert file_of(Random("a"), name) == file_of(Random("a"), name)
    changed = [mutated(Random(f"{n}"), SEEDS["kilt questions"]) != SEEDS["kilt questions"] for n in range(50)]
    assert sum(changed) > 40


def test_a_traceback_would_be_counted() -> None:
    assert outcome(lambda: None) == "accepted"
    assert outcome(Counter[str]().popitem) == "traceback"
