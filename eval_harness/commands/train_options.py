"""Groups of options that the commands of `icr2 train` share; each field is named after its option."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from builders.device import DType
from builders.options import option
from eval_harness.commands import options
from eval_harness.methods.variants import Variant

_DATA = "Training data"
STEPS = "Steps and evaluation"
_MEMORY = "Weights and memory"

VariantName = Annotated[Variant, option("variant")]
Out = Annotated[Path, option("out", metavar="CHECKPOINT")]
Marks = Annotated[bool, option("marks")]
MaxLength = Annotated[int, option("max_length", panel=_DATA, min=1)]
Split = Annotated[str, option("split", panel=_DATA)]


@dataclass(frozen=True)
class Data:
    """The training data."""

    config: options.Configs
    samples: Annotated[str | None, option("samples", panel=_DATA, metavar="TASK=N,...")] = None
    max_length: MaxLength = 32_768
    split: Split = "train"
    validation_split: Annotated[str, option("validation_split", panel=_DATA)] = "validation"
    seed: Annotated[str, option("seed", panel=_DATA)] = "0"


@dataclass(frozen=True)
class Steps:
    """Length of a training and choice of the best checkpoint."""

    steps: Annotated[int | None, option("steps", panel=STEPS, min=1)] = None
    epochs: Annotated[float, option("epochs", panel=STEPS, min=0)] = 2.0
    lr: Annotated[float | None, option("lr", "", "--lr", panel=STEPS, min=0)] = None
    warmup: Annotated[float, option("warmup", panel=STEPS, min=0)] = 0.03
    accumulate: Annotated[int, option("accumulate", panel=STEPS, min=1)] = 4
    eval_every: Annotated[int | None, option("eval_every", panel=STEPS, min=1)] = None
    eval_n: Annotated[int, option("eval_n", panel=STEPS, min=1)] = 50
    patience: Annotated[int, option("patience", panel=STEPS, min=0)] = 5


@dataclass(frozen=True)
class Memory:
    """Trained weights and memory."""

    lora: Annotated[bool, option("lora", "", "--lora", panel=_MEMORY)] = False
    lora_rank: Annotated[int, option("lora_rank", panel=_MEMORY, min=1)] = 16
    rope_base: Annotated[float | None, option("rope_base", panel=_MEMORY, min=1)] = None
    dtype: Annotated[DType, option("dtype", panel=_MEMORY)] = "auto"
    activation_checkpointing: Annotated[
        bool, option("activation_checkpointing", "", "--activation-checkpointing", panel=_MEMORY)
    ] = False


def settings_of(data: Data, *groups: Any) -> dict[str, Any]:
    """The options of groups as training settings, by name."""
    found = {name: value for group in (data, *groups) for name, value in vars(group).items()}
    found["configs"] = options.once(found.pop("config"))
    return found
