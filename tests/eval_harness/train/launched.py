"""A training in one of many processes: `accelerate launch -m tests.eval_harness.train.launched DATASET MODEL OUT`."""

import sys
from pathlib import Path

from eval_harness.train.job import train
from eval_harness.train.sft import SFT
from tests.eval_harness.train.conftest import settings

if __name__ == "__main__":
    dataset, model, out = sys.argv[1:]
    record = train(Path(dataset), model, settings(accumulate=2), Path(out), SFT)
    if record:
        assert record.settings["processes"] == 2
