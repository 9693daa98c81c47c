"""A model dealt out among two processes, by the settings for eight GPUs, gives what one process gives."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from eval_harness.commands.train import CONFIGS
from eval_harness.train import metric
from eval_harness.train.job import train
from tests.eval_harness.train.conftest import losses
from tests.eval_harness.train.sharded import KINDS, SHORT, shared
from tests.processes import launched

pytestmark = pytest.mark.slow
ZERO = pytest.mark.skipif(find_spec("deepspeed") is None, reason="needs deepspeed: pip install deepspeed")
CASES = [
    pytest.param(how, kind, marks=[ZERO] if how == "zero3_8" else [])
    for how, kinds in (("fsdp_8", ("full", "lora", "head-lora")), ("zero3_8", ("full", "lora-da", "head", "head-lora")))
    for kind in kinds
]


@pytest.mark.parametrize(("how", "kind"), CASES)
def test_it_gives_what_one_process_gives_also_when_it_is_killed(
    how: str, kind: str, dataset: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after step 3, one beyond its point, and run again."""
    monkeypatch.setattr(metric, "LIMITS", SHORT)
    of, settings = KINDS[kind](accumulate=4)
    alone, out = tmp_path / "alone", tmp_path / "shared"
    train(dataset, str(base), settings, alone, of)
    for last in (3, 0):
        assert not out.exists()
        codes = launched(["--config_file", str(CONFIGS / f"{how}.yaml")], shared, dataset, base, out, kind, last)
        assert (codes == [0, 0], out.exists()) == (last == 0, last == 0)

    found, wanted = losses(out), losses(alone)
    assert [line[0] for line in found] == [line[0] for line in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)
    for path in alone.glob("*.safetensors"):
        ours, theirs = load_file(out / path.name), load_file(path)
        assert ours.keys() == theirs.keys()
        for name, weights in theirs.items():
            torch.testing.assert_close(ours[name], weights, atol=1e-4, rtol=0)
