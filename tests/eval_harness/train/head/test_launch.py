"""Many processes, launched as on many GPUs."""

from dataclasses import replace
from pathlib import Path

import pytest

from eval_harness.train.head.training import HEAD
from eval_harness.train.job import train
from tests.eval_harness.train.head.conftest import SHORT, log_of
from tests.eval_harness.train.head.sharded import compared
from tests.processes import launched


@pytest.mark.slow
def test_two_processes_give_the_losses_of_one_that_accumulates(boxes: Path, learner: Path, tmp_path: Path) -> None:
    train(boxes, str(learner), SHORT, tmp_path / "alone", HEAD)
    settings = replace(SHORT, accumulate=1)
    assert launched(["--multi_gpu"], train, boxes, str(learner), settings, tmp_path / "two", HEAD) == [0, 0]
    found, wanted = log_of(tmp_path / "two"), log_of(tmp_path / "alone")
    assert [line["step"] for line in found] == [line["step"] for line in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        for name in {*theirs} - {"step", "metrics"}:
            assert ours[name] == pytest.approx(theirs[name], abs=1e-4)
        assert ours.get("metrics") == theirs.get("metrics")


@pytest.mark.slow
@pytest.mark.parametrize("anew", ["no", "wrapped"])
def test_sharded_weights_give_the_loss_and_gradients_of_whole_ones(anew: str) -> None:
    """FSDP's own hooks, on two CPU processes: each layer runs twice before it runs back."""
    assert launched(["--multi_gpu"], compared, anew) == [0, 0]
