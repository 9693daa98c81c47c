"""The settings of a training, and the record of everything that its weights depend on."""

import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import ceil
from typing import Any

from builders.device import DType, dtype_name
from builders.errors import SetupError
from builders.prompts import VERSION as PROMPT_VERSION
from eval_harness.data.dataset import Dataset
from eval_harness.methods.variants import Variant
from eval_harness.models.local import Checkpoint
from eval_harness.models.training import Data, Named, Training
from eval_harness.train.points import Point
from eval_harness.train.samples import Counts

MOST_STEPS = 10_000  # paper, appendix C.1
EPOCHS = 2.0  # paper, appendix C.1: 10,000 steps are "approximately 2 epochs"
LEARNING_RATE, LORA_LEARNING_RATE = 1e-5, 2e-4  # paper, appendix C.1; adapters start at zero and need more
EVALUATIONS = 20  # default number per training
_LIBRARIES = ("icr2", "torch", "transformers", "tokenizers", "accelerate")


@dataclass(frozen=True)
class Settings:
    """The settings of a training, named like the options of `icr2 train sft`; None: the default from `resolved`.

    A step uses `batch_size` times `accumulate` samples in each of `processes` processes. `warmup` counts steps,
    or below 1 is a share of all steps. `eval_n` and `metric_n` count instances of each task of the validation split.
    """

    variant: Variant
    configs: tuple[str, ...]
    samples: str | None = None
    marks: bool = True
    split: str = "train"
    validation_split: str = "validation"
    lora: bool = False
    lora_rank: int = 16
    steps: int | None = None
    epochs: float = EPOCHS
    lr: float | None = None
    batch_size: int = 1
    accumulate: int = 4
    max_length: int = 32_768
    rope_base: float | None = None
    warmup: float = 0.03
    eval_every: int | None = None
    eval_n: int = 50
    metric_every: int | None = None
    metric_n: int = 10
    patience: int = 5
    dtype: DType = "auto"
    activation_checkpointing: bool = False
    seed: str = "0"
    processes: int = 1

    def check(self) -> None:
        """Raises SetupError for invalid settings."""
        if "test" in (self.split, self.validation_split):
            raise SetupError("the test split must not be used for training or validation; use train and validation")
        wanted(self.samples)

    def kind(self) -> str:
        """The variant in a checkpoint's record."""
        return self.variant

    def needs_marks(self) -> bool:
        """Whether targets contain the special tokens."""
        return self.marks and self.variant != "da"

    def learning_rate(self) -> float:
        """The peak learning rate."""
        return self.lr if self.lr is not None else LORA_LEARNING_RATE if self.lora else LEARNING_RATE

    def samples_a_step(self) -> int:
        """Samples per step, over all processes."""
        return self.batch_size * self.accumulate * self.processes

    def n_steps(self, n_samples: int) -> int:
        """The maximum number of steps: `steps`, but never more than `epochs` rounds of all samples."""
        return min(self.steps or MOST_STEPS, max(1, ceil(self.epochs * n_samples / self.samples_a_step())))

    def interval(self, steps: int) -> int:
        """Steps between evaluations."""
        return self.eval_every or max(1, steps // EVALUATIONS)


def wanted(written: str | None) -> dict[str, int]:
    """Instances by task from `nq=7500,fever=5000`, or one number for every task (key ""); all by default.

    Tasks that are not listed get none.
    """
    if written is None:
        return {"": 2**63}
    try:
        pairs = [part.rpartition("=") for part in written.split(",")]
        found = {task.strip(): int(n) for task, _, n in pairs}
    except ValueError:
        found = {}
    if not found or min(found.values()) < 1 or ("" in found and len(pairs) > 1) or len(found) < len(pairs):
        raise SetupError(f"invalid --samples {written}; write nq=7500,fever=5000, or one number for every task")
    return found


def request(settings: Settings, dataset: Dataset, base: Checkpoint) -> dict[str, Any]:
    """Everything that the weights depend on and that is known before encoding."""
    libraries = [*_LIBRARIES, *(["peft"] if settings.lora else [])]
    fields = asdict(settings) | {"dtype": dtype_name(settings.dtype), "lr": settings.learning_rate()}
    apart = ("variant", "marks", "configs", "split", "validation_split", "seed")
    return {
        "variant": settings.kind(),
        "marks": settings.needs_marks(),
        "base": Named(name=base.name, revision=base.revision).model_dump(),
        "dataset": Data(
            **{name: getattr(dataset, name) for name in ("name", "version", "manifest_sha256")},
            configs=list(settings.configs),
            split=settings.split,
            validation_split=settings.validation_split,
        ).model_dump(),
        "prompt_version": PROMPT_VERSION,
        "seed": settings.seed,
        "settings": {name: value for name, value in fields.items() if name not in apart},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in libraries}},
    }


def finished_record(request: dict[str, Any], counts: dict[str, Counts], point: Point) -> Training:
    """The record of a finished training, with the weights of the best step."""
    taken = {"steps_taken": point.step, "best_step": point.best_step}
    return Training(
        **request | {"settings": request["settings"] | taken}, samples=counts["train"], validation=counts["validation"]
    )
