"""One of two processes that share a model: accelerate deals one out among GPUs alone, and takes CPUs for such here."""

import os
from pathlib import Path
from typing import Any

from accelerate import PartialState
from accelerate.utils import DistributedType

from eval_harness.methods.limits import fixed
from eval_harness.train import metric
from eval_harness.train.head.settings import HeadSettings
from eval_harness.train.head.training import HEAD
from eval_harness.train.job import Kind, train
from eval_harness.train.progress import Log
from eval_harness.train.settings import Settings
from eval_harness.train.sft import SFT
from tests.eval_harness.train.conftest import CONFIG, settings


def _head(**chosen: Any) -> tuple[Kind, Settings]:
    usual: dict[str, Any] = {"variant": "da", "configs": (CONFIG,), "dtype": "float32", "lr": 1e-2, "steps": 4}
    return HEAD, HeadSettings(**usual, eval_every=2, k=1, activation_checkpointing=True, **chosen)


def _sft(**chosen: Any) -> tuple[Kind, Settings]:
    return SFT, settings(activation_checkpointing=True, **chosen)


KINDS = {
    "full": lambda **chosen: _sft(metric_every=2, metric_n=1, **chosen),
    "lora": lambda **chosen: _sft(lora=True, **chosen),
    "lora-da": lambda **chosen: _sft(lora=True, variant="da", **chosen),
    "head": lambda **chosen: _head(**chosen),
    "head-lora": lambda **chosen: _head(lora=True, **chosen),
}


SHORT = fixed(8)  # answers that are measured as it goes, whose texts nothing is held against


def take_cpus_for_gpus() -> None:
    """Makes accelerate shard on CPUs."""
    begin = PartialState.__init__

    def begun(self: PartialState, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        if self._shared_state.get("distributed_type") != DistributedType.MULTI_CPU:
            return
        if os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true":
            from deepspeed import comm

            comm.init_distributed(dist_backend="gloo", auto_mpi_discovery=False)
            self._shared_state["distributed_type"] = DistributedType.DEEPSPEED
        else:
            self._shared_state["distributed_type"] = DistributedType.MULTI_GPU

    PartialState.__init__ = begun  # type: ignore[method-assign]


def kill_after(step: int) -> None:
    """Ends the process that writes the log once the loss of a step is in it; the launcher ends the other."""
    add = Log.add

    def added(self: Log, **line: Any) -> None:
        add(self, **line)
        if line["step"] == step and "loss" in line:
            os._exit(9)

    Log.add = added  # type: ignore[method-assign]


def shared(dataset: Path, model: Path, out: Path, name: str, last: int) -> None:
    """Trains by a kind of `KINDS`; `last` is the step whose loss is the last before the process is killed, or 0."""
    take_cpus_for_gpus()
    kill_after(last)
    metric.LIMITS = SHORT
    kind, chosen = KINDS[name](accumulate=2)
    train(dataset, str(model), chosen, out, kind)

    from accelerate.state import AcceleratorState

    assert AcceleratorState().distributed_type in (DistributedType.FSDP, DistributedType.DEEPSPEED)
