"""Fine-tunes a model to answer directly, or to retrieve or cite before it answers (paper, section 4.1)."""

from pathlib import Path
from typing import Any

from builders.device import dtype_name
from eval_harness.models.template import load_tokenizer
from eval_harness.train.collate import Collator, collator_for
from eval_harness.train.fit import Fit
from eval_harness.train.job import Job, Kind
from eval_harness.train.network import load_network, new_tokens, with_adapters, write_finished
from eval_harness.train.points import Point
from eval_harness.train.samples import Order, Samples


def fit(job: Job, point: Point | None) -> Point:
    """The last checkpoint of the training, resumed from an earlier one."""
    settings = job.settings
    train, validation = (Samples(job.data / f"{part}.arrow") for part in ("train", "validation"))
    steps = settings.n_steps(len(train))
    loop = Fit(settings, job.work, steps, dtype_name(settings.dtype))
    order = Order(train, settings.seed, steps * settings.samples_a_step())
    return loop.carry_on(lambda: _network(job, loop.weights_dtype), order, validation, point, _measuring(job))


def finish(job: Job, best: Path, out: Path) -> None:
    """Writes the model of the best weights."""
    write_finished(best, job.start, out, lora=job.settings.lora)


SFT = Kind(fit, finish)


def _network(job: Job, dtype: str) -> tuple[Any, Collator]:
    """The network to train, and its collator."""
    name = job.base.name
    network = load_network(job.start, name, dtype)
    collator = collator_for(network, load_tokenizer(job.start, name).pad_token_id)
    if job.settings.lora:
        network = with_adapters(network, job.settings.lora_rank, new_tokens(job.start, job.base.folder, name))
    return network, collator


def _measuring(job: Job) -> list[Any]:
    """The callback that scores the model on validation, if requested."""
    settings = job.settings
    if settings.metric_every is None:
        return []
    from eval_harness.train.metric import measuring

    part = job.part(settings.validation_split, settings.metric_n)
    instances = [*part.instances(part.chosen(settings.seed))]
    return [
        measuring(
            job.start, job.work, settings.variant, settings.metric_every, instances, job.dataset.manifest.language
        )
    ]
