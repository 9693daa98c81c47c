"""A training that is killed."""

import os
import signal
from pathlib import Path
from typing import Any

from eval_harness.train import fit
from eval_harness.train.job import train
from eval_harness.train.points import Point
from eval_harness.train.progress import Log
from eval_harness.train.sft import SFT
from tests.eval_harness.train.conftest import settings

CHOSEN: dict[str, Any] = {"steps": 10, "eval_every": 4, "batch_size": 2, "accumulate": 2}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(step: int, moment: str) -> None:
    """Makes this process end there."""
    add, mark = Log.add, fit.mark_whole

    def added(self: Log, **line: Any) -> None:
        add(self, **line)
        if moment == "step" and line["step"] == step and "loss" in line:
            die()

    def marked(point: Point) -> None:
        if moment == "save" and point.step == step:
            die()
        mark(point)

    Log.add, fit.mark_whole = added, marked  # type: ignore[method-assign, assignment]


def stopped(dataset: Path, model: Path, out: Path, step: int, moment: str) -> None:
    """Trains until `step`, once a step's loss is written, or `save`, before its checkpoint is marked whole."""
    kill_at(step, moment)
    train(dataset, str(model), settings(**CHOSEN), out, SFT)
