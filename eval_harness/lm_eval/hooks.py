"""Functions that the lm-eval task files call: they load documents and score outputs as `icr2 eval` does."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.tasks import TaskSpec
from eval_harness.data.dataset import Instance, load_instances, open_dataset
from eval_harness.lm_eval.hub import fetch
from eval_harness.lm_eval.room import check_room
from eval_harness.methods.direct import Direct
from eval_harness.methods.limits import LIMITS
from eval_harness.methods.registry import setting
from eval_harness.scoring.score import Wanted, score_output

VERSION = "1.2"  # raised with every change that affects a score; README.md in this folder lists the changes
SPLIT = "test"
UNPARSED = "unparsed"  # the share of outputs from which no answer could be parsed

Document = dict[str, Any]


def documents(
    subset: Mapping[str, str],
    dataset: str,
    version: str,
    dataset_revision: str | None = None,
    config_source: str = "",
    **settings: Any,
) -> dict[str, Any]:
    """The documents of one task of a config under one method, as lm-eval's `custom_dataset` gives them, by split.

    `subset` names config, task and method. `dataset` is a folder, searched for next to the task file and then in the
    current folder, or with `dataset_revision` a Hub repository. `settings` are the model's arguments and the contents
    of `--metadata`. Instances that no run counts are left out: those without a reference answer, or without what
    the method needs. SetupError if the task files are older than this code, or if a prompt would not fit.
    """
    if version != VERSION:
        raise SetupError(
            f"{config_source} has version {version} and icr2 now writes {VERSION}; write the files again: icr2 tasks"
        )
    config, task, method = subset["config"], subset["task"], subset["method"]
    folder = _folder(dataset, config, dataset_revision, config_source)
    found = [
        document
        for instance in _instances(folder, config)
        if instance.task == task and (document := _document(instance, config, method))
    ]
    if not found:
        raise SetupError(f"{config}/{SPLIT} of {folder} has no {task} instance that {method} can be scored on")
    limit = LIMITS.answers[_task(found[0]).kind]
    check_room([document["prompt"] for document in found], limit, settings)
    from datasets import Dataset

    return {SPLIT: Dataset.from_list(found)}


def scores(document: Document, outputs: Sequence[str]) -> dict[str, float]:
    """The scores of a document's output, 0 to 1, as lm-eval's `process_results` gives them."""
    found = score_output(Wanted(_task(document), document["answers"]), Direct(), outputs[0])
    return found.scores | {UNPARSED: float(found.parsed.answer is None)}


def _task(document: Document) -> TaskSpec:
    """The task of a document, from the fields that the document keeps."""
    said = json.loads(document["spec"])
    return TaskSpec(document["task"], said["kind"], said["labels"], said["scorer"])


def _document(instance: Instance, config: str, method: str) -> Document | None:
    prompt = setting(method).prompt(instance)
    answers = instance.spec.usable(instance.answers)
    if prompt is None or not answers:
        return None
    return {
        "id": instance.id,
        "task": instance.task,
        "spec": json.dumps({name: getattr(instance.spec, name) for name in ("kind", "labels", "scorer")}),
        "config": config,
        "method": method,
        "prompt": prompt,
        "answers": answers,
    }


def _folder(dataset: str, config: str, revision: str | None, source: str) -> Path:
    if revision is not None:
        return fetch(dataset, revision, ("manifest.json", f"{config}/{SPLIT}-*.parquet"))
    beside = Path(source).parent / dataset
    folder = beside if beside.is_dir() else Path(dataset)
    if not folder.is_dir():
        raise SetupError(
            f"no dataset {dataset} next to {source or 'the task file'} or in the current folder; go to the folder that "
            """contains it, or give its path: --metadata '{"dataset": "DIR"}'"""
        )
    return folder.resolve()


@lru_cache(maxsize=1)
def _instances(folder: Path, config: str) -> list[Instance]:
    """The instances of a config, cached for its other tasks, which lm-eval loads next."""
    return load_instances(open_dataset(folder), config, SPLIT)
