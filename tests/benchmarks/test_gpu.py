import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


def test_a_query_head_reads_the_key_head_of_its_group() -> None:
    """Case 133: four query heads over two key heads read heads 0, 0, 1, 1."""
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
