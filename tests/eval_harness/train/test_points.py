"""Where a training can go on."""

import json
from pathlib import Path

from eval_harness.train.fit import Fit
from eval_harness.train.points import Point, last_point, mark_whole, point_at, remove_parts
from eval_harness.train.progress import Log, draw
from tests.eval_harness.train.conftest import settings


def write_point(work: Path, step: int, best: int, whole: bool = True) -> Point:
    """A checkpoint as the library leaves it, and as it is once it is whole."""
    point = point_at(work, step, best)
    point.folder.mkdir(parents=True)
    (point.folder / "trainer_state.json").write_text(json.dumps({"best_global_step": best}))
    if whole:
        mark_whole(point)
    return point


def names(work: Path) -> list[str]:
    return sorted(path.name for path in work.iterdir())


def test_the_last_and_the_best_are_kept(tmp_path: Path) -> None:
    for step, best in ((5, 5), (10, 5), (15, 5)):
        write_point(tmp_path, step, best)
    assert names(tmp_path) == ["checkpoint-15", "checkpoint-5"]
    found = last_point(tmp_path)
    assert found == Point(tmp_path / "checkpoint-15", 15, 5)
    assert found.best == tmp_path / "checkpoint-5"
    write_point(tmp_path, 100, 100)
    assert names(tmp_path) == ["checkpoint-100"]


def test_one_that_was_left_half_written_is_no_point(tmp_path: Path) -> None:
    assert last_point(tmp_path) is None
    write_point(tmp_path, 5, 5)
    write_point(tmp_path, 10, 10, whole=False)
    assert last_point(tmp_path) == Point(tmp_path / "checkpoint-5", 5, 5)
    assert names(tmp_path) == ["checkpoint-10", "checkpoint-5"]
    remove_parts(tmp_path)
    assert names(tmp_path) == ["checkpoint-5"]


def test_a_training_is_over_at_its_last_step_or_when_none_was_better_for_long(tmp_path: Path) -> None:
    fit = Fit(settings(patience=3, eval_every=10), tmp_path, 100, "float32")
    assert [fit.is_over(Point(tmp_path, step, best)) for step, best in ((100, 100), (50, 20), (50, 30))] == [
        True,
        True,
        False,
    ]
    never = Fit(settings(patience=0, eval_every=10), tmp_path, 100, "float32")
    assert not never.is_over(Point(tmp_path, 90, 10))


def test_a_log_goes_on_after_a_step(tmp_path: Path) -> None:
    log = Log(tmp_path)
    assert log.lines() == []
    for step in (1, 2, 3):
        log.add(step=step, loss=1 / step)
    log.add(step=2, validation_loss=0.5)
    (tmp_path / "train_log.jsonl").open("a").write('{"step": 4, "lo')  # a line that was cut off
    log.begin(2)
    assert log.lines() == [
        {"step": 1, "loss": 1.0},
        {"step": 2, "loss": 0.5},
        {"step": 2, "validation_loss": 0.5},
    ]
    log.begin(0)
    assert log.lines() == []


def test_losses_are_drawn(tmp_path: Path) -> None:
    lines = [{"step": n, "loss": 2 / n} for n in range(1, 50)] + [{"step": 20, "validation_loss": 0.3}]
    draw(lines, tmp_path / "loss.png")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    first = (tmp_path / "loss.png").read_bytes()
    draw(lines, tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == first
