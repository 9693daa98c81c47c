import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests import in_process
from tests.eval_harness.conftest import save_model
from tests.eval_harness.train.conftest import CONFIG, write_splits

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


def run(folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    """The script with `train`."""
    command = [sys.executable, SCRIPT, "train", *options]
    return subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_train_goes_from_a_model_to_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a small model without a GPU: the same commands as on a large one."""
    dataset = write_splits(tmp_path / "data")
    model = save_model(tmp_path / "model", positions=512)
    options = ("--dataset", dataset, "--config", CONFIG, "--model", model, "--dtype", "float32", "--cpu", "--lora")
    with monkeypatch.context() as patch:  # the scripts find each other in their folder, as they do when one is run
        patch.syspath_prepend(SCRIPT.parent)
        gpu_commands, gpu_train = import_module("gpu_commands"), import_module("gpu_train")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpu_commands, "subprocess", in_process)
    gpu_train.main([*map(str, ("out", *options, "--steps", 2, "--limit", 1))])
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert made == {"da", "rta", "cci", "run-da", "run-rta", "run-cci", "report", "train.json"}
    assert len((tmp_path / "out" / "run-rta" / "results.jsonl").read_text().splitlines()) == 3
    assert len(json.loads((tmp_path / "out" / "train.json").read_text())) == 7


def test_train_says_in_one_line_that_there_is_no_gpu(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    done = run(tmp_path, "out", "--dataset", "data")
    assert (done.returncode, done.stderr) == (
        1,
        "torch sees no CUDA device; run with --cpu to try a small model without one\n",
    )
    assert not (tmp_path / "out").exists()
