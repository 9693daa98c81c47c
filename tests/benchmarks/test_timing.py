import pytest

from benchmarks import timing


def test_sides_take_turns() -> None:
    order: list[str] = []
    timing.alternately(lambda: order.append("a"), lambda: order.append("b"))
    assert order == ["a", "b"] * timing.REPEATS


def test_a_slow_side_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "PATIENCE", 0.0)
    order: list[str] = []
    timing.alternately(lambda: order.append("a"))
    assert order == ["a"]


def test_the_best_run_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])  # runs of 3, 1 and 2 seconds
    monkeypatch.setattr(timing, "perf_counter", lambda: next(ticks))
    results = iter("xyz")
    assert timing.alternately(lambda: next(results)) == [timing.Timed(1.0, "y")]
