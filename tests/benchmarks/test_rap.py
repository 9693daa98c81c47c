from collections.abc import Callable, Sequence
from typing import Any

import pytest

from benchmarks import rap
from benchmarks.timing import Timed
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance
from eval_harness.methods.base import Answer, Question
from eval_harness.models.base import Generation, GenerationError

INSTANCES = [Instance(f"nq-{n}", TaskSpec("nq", "qa"), "q", ["x"], [], []) for n in range(3)]


class Probing:
    """A method that says how long it probed."""

    name = "rap *:4x2"
    keeps = True

    def __init__(self, fails: bool = False) -> None:
        self._fails = fails

    def answer(self, session: Any, questions: Sequence[Question]) -> list[Any]:
        return [GenerationError("no room") if self._fails else Answer(Generation("a", 1, 1, False), [], {"probe": 1.5})]


class Answering:
    """A model that answers at once."""

    name = "fast"

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        return [Generation("a", 1, 1, False) for _ in prompts]


def clock(seconds: Sequence[float]) -> Callable[[Callable[[], Any]], Timed]:
    left = iter(seconds)
    return lambda side: Timed(next(left), side())


def test_the_ratio_is_the_median_of_pairs_whose_order_alternates(monkeypatch: pytest.MonkeyPatch) -> None:
    warm = 99.0
    # vanilla then rap, rap then vanilla, vanilla then rap: ratios 3 / 4, 2 / 1, 6 / 10
    monkeypatch.setattr(rap, "timed", clock([warm, 4, 3, 2, 1, 10, 6]))
    method: Any = Probing()
    model: Any = Answering()
    found = rap.compared(INSTANCES, method, model)
    assert (found.ours, found.peer, found.ratio) == (11, 15, 0.75)
    assert found.notes[0] == "median of 3 pairs; the ratios range from 0.60 to 2.00"
    assert found.notes[1].startswith("41% of its time")  # 4.5 of 11


def test_a_method_that_fails_is_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    method: Any = Probing(fails=True)
    model: Any = Answering()
    with pytest.raises(RuntimeError, match="failed on nq-0"):
        rap.compared(INSTANCES, method, model)
