"""Writes lm-eval task files for every config, condition and task of a dataset, and groups over them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import yaml

from builders.errors import SetupError
from builders.files import write_text
from builders.manifest import Manifest
from builders.tasks import TaskSpec
from eval_harness.lm_eval.hooks import SPLIT, UNPARSED, VERSION
from eval_harness.methods.limits import LIMITS
from eval_harness.scoring.base import COUNTS
from eval_harness.scoring.registry import headline_of, scorer_of

MIXED = "icr2"  # the family of configs with a length and a ratio
METHODS = {"": "vanilla_rag", "_closed_book": "closed_book", "_oracle": "oracle_rag"}  # by the suffix of a task's name
_TURN_ENDS = [
    "<|im_end|>",
    "<|eot_id|>",
    "<end_of_turn>",
]  # where `icr2 eval` stops a chat model too

File = dict[str, Any]


class Config(Protocol):
    """A config as manifests and recipes describe it."""

    @property
    def family(self) -> str:
        """The family; `icr2` if the configs of a length differ in ratio."""
        ...

    @property
    def length(self) -> str | None:
        """The label of the context length."""
        ...


class Source(NamedTuple):
    """The source of task files: the dataset's name, location and language, its configs with a test split, its tasks."""

    name: str  # with which the names of its tasks and groups begin
    dataset: str  # a folder, or with `revision` a repository of the Hub
    revision: str | None
    configs: Mapping[str, Config]
    tasks: Sequence[TaskSpec]
    language: str


def source_of(manifest: Manifest, dataset: str, revision: str | None = None) -> Source:
    """The source that a manifest describes; SetupError if no config has a test split, or there is no task."""
    configs = {name: config for name, config in manifest.configs.items() if SPLIT in config.files}
    if not configs:
        raise SetupError(f"{dataset} has no config with the split {SPLIT!r}; build it with test instances")
    if not manifest.tasks:
        raise SetupError(f"the manifest of {dataset} names no task, so there is none to write; build the dataset again")
    return Source(manifest.name, dataset, revision, configs, tuple(manifest.tasks.values()), manifest.language)


def write_tasks(source: Source, folder: Path) -> int:
    """Writes the files into `folder` and returns how many; SetupError if it contains other task files."""
    files = task_files(source)
    if others := sorted({path.name for path in folder.glob("*.yaml")} - files.keys()):
        raise SetupError(f"{folder} contains other task files, such as {others[0]}; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_text(folder / name, text)
    except OSError as error:
        raise SetupError(f"cannot write to {folder}: {error.strerror}; choose another folder") from None
    return len(files)


def task_files(source: Source) -> dict[str, str]:
    """The text of each file by name; files whose names start with `_` contain what others share."""
    files: dict[str, File] = {"_base": _base(source)}
    files |= {f"_{task.name}": _kind(task) for task in source.tasks}
    for ending, method in METHODS.items():
        for config in source.configs:
            name = group_name(source, config, ending)
            files |= {f"{name}_{task.name}": _task(name, config, task.name, method) for task in source.tasks}
            files[name] = _config_group(name, source)
        files |= {group: _group(group, members) for group, members in _groups(source, ending)}
    return {f"{name}.yaml": _text(file) for name, file in files.items()}


def _base(source: Source) -> File:
    where = {"dataset": source.dataset}
    if source.revision is not None:
        where["dataset_revision"] = source.revision
    return {
        "custom_dataset": _Function("documents"),
        "test_split": SPLIT,
        "output_type": "generate_until",
        "num_fewshot": 0,
        "doc_to_text": "prompt",
        "doc_to_target": "answers",
        "process_results": _Function("scores"),
        "metadata": {"version": VERSION, **where},
    }


def _kind(task: TaskSpec) -> File:
    limit = LIMITS.answers[task.kind]
    better: dict[str, bool | None] = {metric: None if metric in COUNTS else True for metric in scorer_of(task).metrics}
    return {
        "include": "_base.yaml",
        "generation_kwargs": {"until": _TURN_ENDS, "max_gen_toks": limit, "do_sample": False},
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": higher}
            for metric, higher in (better | {UNPARSED: False}).items()
        ],
    }


def _task(group: str, config: str, task: str, method: str) -> File:
    return {
        "include": f"_{task}.yaml",
        "task": f"{group}_{task}",
        "dataset_kwargs": {"subset": {"config": config, "task": task, "method": method}},
    }


def _config_group(name: str, source: Source) -> File:
    """The group of a config's tasks, with a macro average if all have the same headline metric."""
    group = _group(name, [f"{name}_{task.name}" for task in source.tasks])
    headlines = {headline_of(task, source.language) for task in source.tasks}
    if len(headlines) > 1:
        return group
    macro = {"metric": headlines.pop(), "aggregation": "mean", "weight_by_size": False}
    return group | {"group_alias": f"{name} (macro)", "aggregate_metric_list": [macro]}


def _groups(source: Source, ending: str) -> Iterator[tuple[str, list[str]]]:
    """A group for each length over all its ratios, and the group of these groups, named like the dataset."""
    lengths: dict[str, list[str]] = {}
    for config, about in source.configs.items():
        if about.family == MIXED:
            name = group_name(source, about.length or "", ending)
            lengths.setdefault(name, []).append(group_name(source, config, ending))
    yield from lengths.items()
    if lengths:
        yield source.name + ending, list(lengths)


def group_name(source: Source, what: str, ending: str = "") -> str:
    """The name of the group of a config or a length: with the dataset's, so that two datasets do not collide."""
    return f"{source.name}_{what}{ending}"


def _group(name: str, members: Sequence[str]) -> File:
    return {"group": name, "task": list(members), "metadata": {"version": VERSION}}


class _Function(str):
    """A function of `hooks`, for lm-eval to import."""


class _Dumper(yaml.SafeDumper):
    """Writes functions in lm-eval's notation, and repeats equal values instead of using YAML anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        """Disables anchors."""
        return True


def _function(dumper: yaml.SafeDumper, function: _Function) -> yaml.Node:
    return dumper.represent_scalar("!function", f"eval_harness.lm_eval.hooks.{function}")


_Dumper.add_representer(_Function, _function)


def _text(file: File) -> str:
    return yaml.dump(file, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
