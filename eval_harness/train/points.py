"""Checkpoints to resume a training from: those written completely, in its work folder."""

from pathlib import Path
from typing import NamedTuple

from builders.files import remove
from builders.typed import Open, read_json, typed

_WHOLE = "whole"  # a file that marks a complete checkpoint


class _State(Open):
    """What is read of the trainer's own state."""

    best_global_step: int | None


class Point(NamedTuple):
    """A checkpoint, its step, and the step of the lowest validation loss so far."""

    folder: Path
    step: int
    best_step: int

    @property
    def best(self) -> Path:
        """The checkpoint of the best step."""
        return self.folder.with_name(_name(self.best_step))


def point_at(work: Path, step: int, best_step: int | None) -> Point:
    """The checkpoint of a step; without a best step, the step itself is the best."""
    return Point(work / _name(step), step, best_step or step)


def mark_whole(point: Point) -> None:
    """Marks a checkpoint as complete, and removes all but it and the best one."""
    (point.folder / _WHOLE).touch()
    for folder in _folders(point.folder.parent):
        if _step(folder) not in (point.step, point.best_step):
            remove(folder)


def last_point(work: Path) -> Point | None:
    """The latest checkpoint; None before the first."""
    found = []
    for folder in _folders(work):
        if (folder / _WHOLE).exists():
            path, again = folder / "trainer_state.json", f"remove {folder} and rerun"
            state = typed(read_json(path, again), _State, path, again)
            found.append(point_at(work, _step(folder), state.best_global_step))
    return max(found, key=lambda point: point.step, default=None)


def remove_parts(work: Path) -> None:
    """Removes incomplete checkpoints."""
    for folder in _folders(work):
        if not (folder / _WHOLE).exists():
            remove(folder)


def _name(step: int) -> str:
    """The trainer's name for the checkpoint of a step."""
    return f"checkpoint-{step}"


def _folders(work: Path) -> list[Path]:
    return sorted(work.glob("checkpoint-*"))


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix("checkpoint-"))
