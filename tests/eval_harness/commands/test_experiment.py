"""Changes of a scale are options that mean what they mean elsewhere."""

import pytest

from builders.errors import SetupError
from eval_harness.commands.experiment import Changes, samples_of


def test_samples_are_written_as_for_a_training() -> None:
    assert samples_of("5") == 5
    assert samples_of("nq=3,wow=2") == {"nq": 3, "wow": 2}
    with pytest.raises(
        SetupError, match="invalid --samples few; write nq=7500,fever=5000, or one number for every task"
    ):
        samples_of("few")


def test_a_scale_with_changes() -> None:
    plain = Changes().scale("tiny")
    assert (plain.samples, plain.answer["limit"], plain.probe["limit"]) == (25, 100, 50)
    changed = Changes(samples="nq=4", limit=3, probe_limit=2, set=["data=x"], launch="none").scale("tiny")
    assert (changed.samples, changed.answer["limit"], changed.probe["limit"]) == ({"nq": 4}, 3, 2)
    assert changed.build.set == [*plain.build.set, "data=x"]
    assert changed.launch is None
    assert Changes(samples="nq=4").scale("full").samples == {"nq": 4}
    assert changed.answer["batch-size"] == plain.answer["batch-size"]
