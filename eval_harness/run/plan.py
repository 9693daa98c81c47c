"""What a run asks: configs and methods on instances of one split."""

import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from builders.errors import SetupError
from eval_harness.conditions.ranking import ENCODER, Retrieval
from eval_harness.data.dataset import Dataset, Instance, load_instances, shard
from eval_harness.methods.base import Setting
from eval_harness.methods.limits import LIMITS, Limits
from eval_harness.methods.probed import Probed
from eval_harness.methods.registry import settings


@dataclass(frozen=True)
class Plan:
    """What is to be run: configs and methods of one split, on the first `limit` instances of each task.

    `limits` say how many tokens outputs may have. `shard` (i, n) is part i of n of those, from 1. A batch holds at most
    `batch_size` prompts or, where it is given, `max_batch_tokens` tokens of padded prompts and outputs.
    `shares_prefixes`: whether prompts over the same passages are read by the model from their common beginning.
    """

    dataset: Dataset
    configs: tuple[str, ...]
    methods: tuple[str, ...]
    split: str = "test"
    tasks: tuple[str, ...] = ()  # all, when empty
    limit: int | None = None
    limits: Limits = LIMITS
    batch_size: int = 1
    max_batch_tokens: int | None = None
    shard: tuple[int, int] = (1, 1)
    encoder: str = ENCODER
    shares_prefixes: bool = True
    probed: Probed | None = None

    @cached_property
    def retrieval(self) -> Retrieval:
        """What ranks passages, with the vectors that it has made so far."""
        return Retrieval(self.encoder)

    @cached_property
    def settings(self) -> list[Setting]:
        """What the names of methods stand for; SetupError where one is unknown."""
        return settings(self.methods, self.retrieval, self.probed)

    def instances(self, config: str) -> list[Instance]:
        """The instances of a config, in file order; SetupError where a shard has none."""
        found = load_instances(self.dataset, config, self.split, self.tasks, self.limit)
        mine = shard(found, *self.shard)
        if not mine:
            raise SetupError(f"{config}/{self.split} has fewer than {self.shard[1]} contexts; use fewer shards")
        return mine


def default_folder(plan: Plan, model: str) -> Path:
    """`runs/` and a name made of the dataset, the configs, the model and the methods, shortened by a digest."""
    methods = "+".join(setting.name for setting in plan.settings)
    parts = [f"{plan.dataset.name}-{plan.dataset.version}", "+".join(plan.configs), model, methods]
    if plan.shard != (1, 1):
        parts.append("{}of{}".format(*plan.shard))
    name = re.sub(r"[^\w.+@-]+", "-", "_".join(parts))
    if len(name) > 120:
        name = f"{name[:100]}-{sha256(name.encode()).hexdigest()[:12]}"
    return Path("runs") / name
