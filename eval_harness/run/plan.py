"""The plan of a run: configs and methods on instances of one split."""

import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from builders.errors import SetupError
from eval_harness.conditions.ranking import ENCODER, Retrieval
from eval_harness.data.dataset import Dataset, Instance, count_instances, load_instances, shard
from eval_harness.methods.base import Setting
from eval_harness.methods.limits import LIMITS, Limits
from eval_harness.methods.probed import Probed
from eval_harness.methods.registry import settings


@dataclass(frozen=True)
class Plan:
    """Configs and methods to run on one split, on the first `limit` instances of each task.

    `limits` are output limits in tokens. `shard` (i, n) selects part i of n, from 1. A batch has at most
    `batch_size` prompts or, if given, `max_batch_tokens` tokens of padded prompts and outputs.
    `shares_prefixes`: whether prompts with the same passages reuse their common prefix; `warm_up`: whether each method
    answers a prompt before its time is taken.
    """

    dataset: Dataset
    configs: tuple[str, ...]
    methods: tuple[str, ...]
    split: str = "test"
    tasks: tuple[str, ...] = ()  # empty: all
    limit: int | None = None
    limits: Limits = LIMITS
    batch_size: int = 1
    max_batch_tokens: int | None = None
    shard: tuple[int, int] = (1, 1)
    encoder: str = ENCODER
    shares_prefixes: bool = True
    warm_up: bool = False
    probed: Probed | None = None

    @cached_property
    def retrieval(self) -> Retrieval:
        """The ranker of passages, with its cache of embeddings."""
        return Retrieval(self.encoder)

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings of the named methods; SetupError for an unknown name."""
        return settings(self.methods, self.retrieval, self.probed)

    def instances(self, config: str) -> list[Instance]:
        """The instances of a config, in file order; SetupError for an empty shard."""
        found = load_instances(self.dataset, config, self.split, self.tasks, self.limit)
        mine = shard(found, *self.shard)
        if not mine:
            raise self._without_rows(config)
        return mine

    def planned(self) -> dict[str, int]:
        """How many instances of each config every method answers; SetupError for an unknown task or an empty shard."""
        chosen = {
            config: count_instances(self.dataset, config, self.split, self.tasks, self.limit, self.shard)
            for config in self.configs
        }
        if empty := next((config for config, n in chosen.items() if not n), None):
            raise self._without_rows(empty)
        return chosen

    def _without_rows(self, config: str) -> SetupError:
        return SetupError(f"{config}/{self.split} has fewer than {self.shard[1]} contexts; use fewer shards")


def default_folder(plan: Plan, model: str) -> Path:
    """`runs/` and a name from dataset, configs, model and methods, shortened with a digest."""
    methods = "+".join(setting.name for setting in plan.settings)
    parts = [f"{plan.dataset.name}-{plan.dataset.version}", "+".join(plan.configs), model, methods]
    if plan.shard != (1, 1):
        parts.append("{}of{}".format(*plan.shard))
    name = re.sub(r"[^\w.+@-]+", "-", "_".join(parts))
    if len(name) > 120:
        name = f"{name[:100]}-{sha256(name.encode()).hexdigest()[:12]}"
    return Path("runs") / name
