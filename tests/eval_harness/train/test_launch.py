"""Many processes, launched as on many GPUs."""

import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.commands.train import CONFIGS
from tests.eval_harness.train.conftest import losses


@pytest.mark.slow
def test_two_processes_give_the_losses_of_one_that_accumulates(
    trained: Callable[..., tuple[Path, Any]], dataset: Path, base: Path, tmp_path: Path
) -> None:
    alone, _ = trained("alone", accumulate=4)
    out = tmp_path / "two"
    launch = "accelerate.commands.launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
    what = ["-m", "tests.eval_harness.train.launched", dataset, base, out]
    command = [
        sys.executable,
        "-m",
        *launch.split(),
        "--dynamo_backend",
        "no",
        "--main_process_port",
        "0",
        *map(str, what),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found, wanted = losses(out), losses(alone)
    assert [line[0] for line in found] == [line[0] for line in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_settings_for_launching_are_read_by_accelerate(path: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    found = load_config_from_file(str(path))
    assert found.num_processes == int(path.stem.split("_")[1])
    assert found.mixed_precision == "bf16"
    kind = {"gpu_1": "NO", "fsdp_8": "FSDP", "zero3_8": "DEEPSPEED"}[path.stem]
    assert str(found.distributed_type).rpartition(".")[2] == kind


def test_adapters_and_activations_that_fsdp_computes_anew_are_refused(
    trained: Callable[..., tuple[Path, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FSDP_ACTIVATION_CHECKPOINTING", "true")
    with pytest.raises(SetupError, match="--lora does not work with fsdp_activation_checkpointing: true"):
        trained("out", lora=True)
    assert not any(tmp_path.iterdir())


def test_the_checkpoint_is_made_by_one_process_though_zero_dealt_the_model_out(
    trained: Callable[..., tuple[Path, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers
    from transformers.integrations import deepspeed

    class Zero:
        """As the library keeps it while DeepSpeed trains at stage 3."""

        def is_zero3(self) -> bool:
            return True

    zero, train = Zero(), transformers.Trainer.train

    def dealt_out(self: Any, *given: Any, **named: Any) -> Any:
        done = train(self, *given, **named)
        monkeypatch.setattr(deepspeed, "_hf_deepspeed_config_weak_ref", weakref.ref(zero))
        return done

    monkeypatch.setattr(transformers.Trainer, "train", dealt_out)
    out, _ = trained("out", steps=2)
    assert (out / "model.safetensors").exists()
