"""`icr2 train head`: a language model with a head that retrieves, from the same samples as the other trainings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.device import dtype_name
from builders.errors import SetupError
from eval_harness.train.fit import number_of
from eval_harness.train.head.examples import Draws, Examples, batch_of, write_examples
from eval_harness.train.head.files import VARIANT, read_head, write_head
from eval_harness.train.head.fit import HeadFit
from eval_harness.train.head.joint import LOSSES, Loss, Objective, joint
from eval_harness.train.head.scorer import Scorer, Shape, new_head
from eval_harness.train.job import Job, Kind
from eval_harness.train.network import load_network, with_adapters, write_finished
from eval_harness.train.points import Point
from eval_harness.train.samples import Order
from eval_harness.train.settings import Settings


@dataclass(frozen=True)
class HeadSettings(Settings):
    """Choices of a training with a head, which makes `width` values of a question or a passage.

    The temperature of the choice of `k` passages falls from `temperature` to `last_temperature`.
    """

    loss: Loss = "gen+ret"
    k: int = 4
    temperature: float = 1.0
    last_temperature: float = 0.1
    head_lr: float = 3e-4
    width: int = 256
    scorer: Scorer = "mlp"

    def kind(self) -> str:
        """What the record of a checkpoint calls what it was trained for."""
        return VARIANT

    def check(self) -> None:
        """Raises SetupError for choices that a training may not be given."""
        super().check()
        if self.loss not in LOSSES:
            raise SetupError(f"--loss {self.loss}: there are {', '.join(LOSSES)}")
        if not 0 < self.last_temperature <= self.temperature:
            raise SetupError(
                f"the temperature cannot fall from {self.temperature} to {self.last_temperature}; "
                "give --temperature and a --last-temperature that is no higher, both above 0"
            )
        if self.lora and self.loss == "ret":
            raise SetupError("--loss ret leaves the model as it is, so --lora has nothing to adapt; leave it out")

    def objective(self) -> Objective:
        """What is learned."""
        return Objective(self.loss, self.k, self.temperature, self.last_temperature, self.seed)


def fit(job: Job, point: Point | None) -> Point:
    """The last point of the training, which is carried on from an earlier one."""
    settings: HeadSettings = job.settings
    train: Any = Examples(job.data / "train.arrow")
    validation = Examples(job.data / "validation.arrow")
    steps = settings.n_steps(len(train))
    loop = HeadFit(settings, job.work, steps, dtype_name(settings.dtype))
    order = Order(train, settings.seed, steps * settings.samples_a_step())
    return loop.carry_on(lambda: (_joint(job, loop.weights_dtype), batch_of), Draws(order), Draws(validation), point)


def finish(job: Job, best: Path, out: Path) -> None:
    """Writes the model and the head of the best weights."""
    write_finished(best, job.start, out, lora=job.settings.lora)
    write_head(out, read_head(best).state_dict(), job.settings.scorer)


HEAD = Kind(fit, finish, write_examples)


def _joint(job: Job, dtype: str) -> Any:
    """The model, with adapters where they are wanted, and a new head."""
    settings: HeadSettings = job.settings
    network = load_network(job.start, job.base.name, dtype)
    shape = Shape(network.config.get_text_config().hidden_size, settings.width, settings.scorer)
    if settings.lora:
        network = with_adapters(network, settings.lora_rank, ())
    return joint(network, new_head(shape, number_of(settings.seed)), settings.objective(), job.base.name)
