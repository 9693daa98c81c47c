"""A training in one of many processes: `accelerate launch -m tests.eval_harness.train.head.launched DATA MODEL OUT`."""

import sys
from dataclasses import replace
from pathlib import Path

from eval_harness.train.head.training import HEAD
from eval_harness.train.job import train
from tests.eval_harness.train.head.conftest import SHORT

if __name__ == "__main__":
    dataset, model, out = sys.argv[1:]
    train(Path(dataset), model, replace(SHORT, accumulate=1), Path(out), HEAD)
