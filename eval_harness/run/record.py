"""The record of a run, `run.json`."""

import platform
from importlib.metadata import version
from typing import Any

from builders import prompts
from eval_harness.methods.rap import Rap
from eval_harness.models.base import Model
from eval_harness.models.checkpoint import training_of
from eval_harness.run.earlier import FORMAT, described
from eval_harness.run.plan import Plan
from eval_harness.scoring.registry import VERSION as SCORER_VERSION

_LIBRARIES = ("icr2", "torch", "transformers", "tokenizers", "rouge-score")
_CHOSEN = ("split", "limit", "batch_size", "max_batch_tokens", "shard", "shares_prefixes")


def record(plan: Plan, model: Model) -> dict[str, Any]:
    """Everything that the results of a plan depend on, for run.json; SetupError if a method refuses the model."""
    for setting in plan.settings:
        setting.method.check(model)
    probing = {one.name: one.method for one in plan.settings if isinstance(one.method, Rap)}
    training = training_of(model)
    rankers = [setting.ranker for setting in plan.settings if setting.ranker]
    cites = any(setting.cites for setting in plan.settings)
    retrieves = any(setting.retrieves for setting in plan.settings)
    manifest = plan.dataset.manifest
    chosen = {name: getattr(plan, name) for name in _CHOSEN}
    fields = chosen | {
        "format": FORMAT,
        "dataset": plan.dataset.describe(),
        "configs": {name: manifest.config(name).model_dump(exclude={"files"}) for name in plan.configs},
        "tasks": {name: described(manifest.task(name)) for name in plan.tasks or manifest.tasks},
        "methods": [setting.name for setting in plan.settings],
        "planned": plan.planned(),
        "model": model.describe(),
        "prompt_version": prompts.VERSION,
        "scorer_version": SCORER_VERSION,
        "decoding": "greedy",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "encoder": plan.encoder if rankers else None,
        "retrieval": plan.retrieval.describe(rankers) if rankers else None,
        "max_new_tokens": dict(plan.limits.answers),
        "evidence_tokens": plan.limits.evidence if cites or retrieves else None,
        "retrieval_tokens": plan.limits.retrieval if retrieves else None,
        "citing_version": prompts.CITING_VERSION if cites else None,
        "probed": {name: method.choice.describe() for name, method in probing.items()} or None,
        "training": training and training.model_dump(),
    }
    if plan.warm_up:
        fields["warm_up"] = True
    if plan.limits.least:
        fields["least_new_tokens"] = dict(plan.limits.least.answers)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in fields.items()}
