"""Where a training can go on after it was stopped: checkpoints that were written whole, in its work folder."""

import json
from pathlib import Path
from typing import NamedTuple

from builders.files import remove

_WHOLE = "whole"  # a file that stands in a checkpoint once everything else does


class Point(NamedTuple):
    """A checkpoint, the step that it was written after, and the step of the lowest loss on validation so far."""

    folder: Path
    step: int
    best_step: int

    @property
    def best(self) -> Path:
        """The checkpoint of the best step."""
        return self.folder.with_name(_name(self.best_step))


def point_at(work: Path, step: int, best_step: int | None) -> Point:
    """The point of a step; without a best one, that of the step is."""
    return Point(work / _name(step), step, best_step or step)


def mark_whole(point: Point) -> None:
    """Says that a checkpoint is whole, and removes all but it and the best one."""
    (point.folder / _WHOLE).touch()
    for folder in _folders(point.folder.parent):
        if _step(folder) not in (point.step, point.best_step):
            remove(folder)


def last_point(work: Path) -> Point | None:
    """The latest point, None before the first."""
    found = []
    for folder in _folders(work):
        if (folder / _WHOLE).exists():
            best = json.loads((folder / "trainer_state.json").read_text(encoding="utf-8"))["best_global_step"]
            found.append(point_at(work, _step(folder), best))
    return max(found, key=lambda point: point.step, default=None)


def remove_parts(work: Path) -> None:
    """Removes checkpoints that were left half-written."""
    for folder in _folders(work):
        if not (folder / _WHOLE).exists():
            remove(folder)


def _name(step: int) -> str:
    """The name that the library gives the checkpoint of a step."""
    return f"checkpoint-{step}"


def _folders(work: Path) -> list[Path]:
    return sorted(work.glob("checkpoint-*"))


def _step(folder: Path) -> int:
    return int(folder.name.removeprefix("checkpoint-"))
