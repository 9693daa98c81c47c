"""What a run asks: its plan, the requests that come of it, and the record of what its results depend on."""

import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from builders import prompts
from builders.errors import SetupError
from builders.format1 import prompt_kind
from eval_harness import scoring as scorers
from eval_harness.conditions.ranking import ENCODER, Retrieval
from eval_harness.data.dataset import Dataset, Instance, Passage, load_instances, shard
from eval_harness.methods.base import Checks, Question
from eval_harness.methods.names import Setting, settings
from eval_harness.methods.rap import Probed, Rap
from eval_harness.models.base import Model
from eval_harness.models.checkpoint import training_of
from eval_harness.models.steps import RETRIEVAL_TOKENS

MAX_NEW_TOKENS = {"qa": 64, "fact": 32, "dialogue": 128}  # by the kind of prompt
EVIDENCE_TOKENS = 32  # more, where evidence is asked for
_ANY = 1 << 62  # positions of a model that takes any prompt
_LIBRARIES = ("icr2", "torch", "transformers", "tokenizers", "rouge-score")


@dataclass(frozen=True)
class Plan:
    """What is to be run: configs and methods of one split, on the first `limit` instances of each task.

    Outputs have at most `max_new_tokens`, by kind of prompt, `evidence_tokens` more where evidence is asked for, and up
    to `retrieval_tokens` more where a retrieval comes before the answer.
    `shard` (i, n) is part i of n of those, from 1. A batch holds at most `batch_size` prompts or, where it is given,
    `max_batch_tokens` tokens of padded prompts and outputs. `shares_prefixes`: whether prompts over the same passages
    are read by the model from their common beginning.
    """

    dataset: Dataset
    configs: tuple[str, ...]
    methods: tuple[str, ...]
    split: str = "test"
    tasks: tuple[str, ...] = ()  # all, when empty
    limit: int | None = None
    max_new_tokens: Mapping[str, int] = field(default_factory=lambda: dict(MAX_NEW_TOKENS))
    batch_size: int = 1
    evidence_tokens: int = EVIDENCE_TOKENS
    max_batch_tokens: int | None = None
    shard: tuple[int, int] = (1, 1)
    encoder: str = ENCODER
    shares_prefixes: bool = True
    probed: Probed | None = None
    retrieval_tokens: int = RETRIEVAL_TOKENS

    @cached_property
    def retrieval(self) -> Retrieval:
        """What ranks passages, with the vectors that it has made so far."""
        return Retrieval(self.encoder)

    @cached_property
    def settings(self) -> list[Setting]:
        """What the names of methods stand for; SetupError where one is unknown."""
        return settings(self.methods, self.retrieval, self.probed)

    def output_limit(self, setting: Setting, task: str, room: int) -> int:
        """The tokens that an output may have after a prompt which leaves `room`.

        A retrieval has as many as its method allows and as fit; a prompt that leaves it fewer than evidence has does
        not fit.
        """
        answer = self.max_new_tokens[prompt_kind(task)] + (self.evidence_tokens if setting.cites else 0)
        most = min(setting.retrieves, self.retrieval_tokens)
        return answer + max(min(most, room - answer), min(most, self.evidence_tokens))

    def instances(self, config: str) -> list[Instance]:
        """The instances of a config, in file order; SetupError where a shard has none."""
        found = load_instances(self.dataset, config, self.split, self.tasks, self.limit)
        mine = shard(found, *self.shard)
        if not mine:
            raise SetupError(f"{config}/{self.split} has fewer than {self.shard[1]} contexts; use fewer shards")
        return mine


class Request(NamedTuple):
    """An instance under a config and a setting; `passages` is None where the condition cannot be met.

    Prompts are made when they are asked for, since those of long configs together would fill the memory. The digests
    are of the prompt before any chat template, and of its part up to the last passage (None without passages).
    """

    config: str
    setting: Setting
    instance: Instance
    passages: list[Passage] | None
    prompt_sha256: str | None
    context_sha256: str | None
    n_prompt_tokens: int
    max_new_tokens: int

    @property
    def method(self) -> str:
        """The name of the setting."""
        return self.setting.name

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the row that answers it."""
        return (self.instance.id, self.config, self.method)

    @property
    def prompt(self) -> str | None:
        """The text of the prompt, before any chat template."""
        if self.passages is None:
            return None
        return self.setting.method.prompt(self.instance, self.passages).text

    @property
    def question(self) -> Question:
        """What the method is asked."""
        return Question(self.instance, self.passages or [], self.max_new_tokens)

    @property
    def answer_key(self) -> tuple[str, str | None]:
        """Requests with one key have one answer."""
        return (self.setting.method.name, self.prompt_sha256)

    @property
    def cost(self) -> int:
        """Tokens of prompt and output together."""
        return self.n_prompt_tokens + self.max_new_tokens


def requests(plan: Plan, count: Callable[[str], int], positions: int = _ANY) -> Iterator[list[Request]]:
    """The plan's requests to a model of so many positions, a list for each config and method in turn, in file order."""
    for config in plan.configs:
        instances = plan.instances(config)
        for setting in plan.settings:
            yield [_request(instance, config, setting, plan, count, positions) for instance in instances]


def record(plan: Plan, model: Model) -> dict[str, Any]:
    """Everything that the results of a plan depend on, for run.json; SetupError where a method refuses the model."""
    for setting in plan.settings:
        if isinstance(setting.method, Checks):
            setting.method.check(model)
    probing = {one.name: one.method for one in plan.settings if isinstance(one.method, Rap)}
    training = training_of(model)
    rankers = [setting.ranker for setting in plan.settings if setting.ranker]
    cites = any(setting.cites for setting in plan.settings)
    retrieves = any(setting.retrieves for setting in plan.settings)
    fields = asdict(replace(plan, probed=None)) | {
        "dataset": {key: value for key, value in plan.dataset._asdict().items() if key != "folder"},
        "methods": [setting.name for setting in plan.settings],
        "model": model.describe(),
        "prompt_version": prompts.VERSION,
        "scorer_version": scorers.VERSION,
        "decoding": "greedy",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "encoder": plan.encoder if rankers else None,
        "retrieval": plan.retrieval.describe(rankers) if rankers else None,
        "evidence_tokens": plan.evidence_tokens if cites or retrieves else None,
        "retrieval_tokens": plan.retrieval_tokens if retrieves else None,
        "citing_version": prompts.CITING_VERSION if cites else None,
        "probed": {name: method.choice.describe() for name, method in probing.items()} or None,
        "training": training and training.model_dump(),
    }
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}


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


def _request(
    instance: Instance, config: str, setting: Setting, plan: Plan, count: Callable[[str], int], positions: int
) -> Request:
    passages = setting.shown(instance)
    if passages is None:
        limit = plan.output_limit(setting, instance.task, positions)
        return Request(config, setting, instance, None, None, None, 0, limit)
    prompt = setting.method.prompt(instance, passages)
    context = _digest(prompt.text[: prompt.context_end]) if prompt.spans else None
    n_tokens = count(prompt.text)
    limit = plan.output_limit(setting, instance.task, positions - n_tokens)
    return Request(config, setting, instance, passages, _digest(prompt.text), context, n_tokens, limit)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
