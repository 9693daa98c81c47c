"""`icr2 train head`: trains a language model with a retrieval head, on the same samples as other trainings."""

from pathlib import Path
from typing import Any

from builders.device import dtype_name
from eval_harness.methods.head.files import read_head, write_head
from eval_harness.methods.head.scorer import Shape, new_head
from eval_harness.train.fit import number_of
from eval_harness.train.head.examples import Draws, Examples, batch_of, write_examples
from eval_harness.train.head.fit import HeadFit
from eval_harness.train.head.joint import joint
from eval_harness.train.head.settings import HeadSettings
from eval_harness.train.job import Job, Kind
from eval_harness.train.network import load_network, with_adapters, write_finished
from eval_harness.train.points import Point
from eval_harness.train.samples import Order


def fit(job: Job, point: Point | None) -> Point:
    """The last checkpoint of the training, resumed from an earlier one."""
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
    """The model, with adapters if requested, and a new head."""
    settings: HeadSettings = job.settings
    network = load_network(job.start, job.base.name, dtype)
    shape = Shape(network.config.get_text_config().hidden_size, settings.width, settings.scorer)
    if settings.lora:
        network = with_adapters(network, settings.lora_rank, ())
    return joint(network, new_head(shape, number_of(settings.seed)), settings.objective(), job.base.name)
