import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests import in_process
from tests.eval_harness.conftest import instance, save_model, write_config
from tests.manifests import write_manifest_2

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


def test_a_query_head_reads_the_key_head_of_its_group() -> None:
    """Four query heads over two key heads read heads 0, 0, 1, 1."""
    import torch

    from benchmarks.gpu import TINY, attention, rotary, turned, weights

    layer = weights(TINY, "cpu", torch.float32)[0]
    x = torch.randn(1, 5, TINY.hidden, generator=torch.Generator().manual_seed(2))
    size = TINY.hidden // TINY.heads
    angles = rotary(5, size, x)
    mixed = []
    for head, key_head in enumerate([0, 0, 1, 1]):
        q = turned((x @ layer["q"].T)[..., head * size : (head + 1) * size], angles)
        k = turned((x @ layer["k"].T)[..., key_head * size : (key_head + 1) * size], angles)
        v = (x @ layer["v"].T)[..., key_head * size : (key_head + 1) * size]
        hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
        mixed.append(((q @ k.mT) / size**0.5).masked_fill(hidden, -torch.inf).softmax(-1) @ v)
    torch.testing.assert_close(attention(TINY, layer, x, angles), torch.cat(mixed, -1) @ layer["o"].T)


def test_the_script_runs_alone_on_small_shapes(tmp_path: Path) -> None:
    command = [sys.executable, "-I", str(SCRIPT), str(tmp_path / "out.json"), "--tiny"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    numbers = json.loads((tmp_path / "out.json").read_text())
    assert numbers["largest_logits_difference"] < 1e-3
    assert all(rate > 0 for rate in numbers["prefill_tokens_per_second"].values())
    assert numbers["encoder_passages_per_second"] > 0


@pytest.mark.gpu
def test_the_gpu_gives_the_cpus_logits() -> None:
    import torch

    from benchmarks.gpu import logits_difference

    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    assert logits_difference("cuda") < 1e-4


@pytest.mark.slow
def test_rap_goes_from_heads_to_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a small model without a GPU: the same commands as on a large one."""
    rows = [instance(f"nq-{n}", "nq", "what is it", ["Lima"], [0], ["Lima is it.", "Snow melts."]) for n in range(4)]
    dataset = tmp_path / "data"
    write_config(dataset, "1k_p0", rows)
    write_config(dataset, "1k_p0", rows, "validation-00000-of-00001.parquet")
    write_manifest_2(dataset, "tiny")
    model = save_model(tmp_path / "model")
    options = ("--dataset", dataset, "--config", "1k_p0", "--model", model, "--dtype", "float32", "--cpu")
    small = ("--m", "1,2", "--q", "1,2", "--probe", 4, "--limit", 2)
    with monkeypatch.context() as patch:  # the scripts find each other in their folder, as they do when one is run
        patch.syspath_prepend(SCRIPT.parent)
        gpu_commands, gpu_rap = import_module("gpu_commands"), import_module("gpu_rap")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gpu_commands, "subprocess", in_process)
    gpu_rap.main([*map(str, (tmp_path / "out", *options, *small))])
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert made == {"heads.json", "figure6.png", "figure7.png", "run", "report"}
    assert len((tmp_path / "out" / "run" / "results.jsonl").read_text().splitlines()) == 6
    assert (tmp_path / "out" / "report" / "report.html").exists()


def test_rap_says_in_one_line_that_there_is_no_gpu(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    command = [sys.executable, str(SCRIPT), "rap", "out", "--dataset", "data"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "torch sees no CUDA device; run with --cpu to try a small model without one\n",
    )
    assert not (tmp_path / "out").exists()
