"""A training that is killed: `python -m tests.eval_harness.train.stopping DATASET MODEL OUT STEP MOMENT`.

MOMENT: `step`, once the loss of a step is written, or `save`, before the checkpoint of a step is marked whole.
"""

import os
import signal
import sys
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


if __name__ == "__main__":
    dataset, model, out, step, moment = sys.argv[1:]
    kill_at(int(step), moment)
    train(Path(dataset), model, settings(**CHOSEN), Path(out), SFT)
