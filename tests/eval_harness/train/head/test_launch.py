"""Many processes, launched as on many GPUs."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from eval_harness.train.head.training import HEAD
from eval_harness.train.job import train
from tests.eval_harness.train.head.conftest import SHORT, log_of


@pytest.mark.slow
def test_two_processes_give_the_losses_of_one_that_accumulates(boxes: Path, learner: Path, tmp_path: Path) -> None:
    train(boxes, str(learner), SHORT, tmp_path / "alone", HEAD)
    launch = "accelerate.commands.launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
    where = "--dynamo_backend no --main_process_port 0 -m tests.eval_harness.train.head.launched"
    command = [sys.executable, "-m", *launch.split(), *where.split(), *map(str, (boxes, learner, tmp_path / "two"))]
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stderr[-3000:]
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    launch = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", port]
    command = [sys.executable, *launch, "-m", "tests.eval_harness.train.head.sharded", anew]
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=settings)
    assert done.returncode == 0, done.stderr[-3000:]
