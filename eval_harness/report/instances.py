"""Instances of a dataset folder, for the page."""

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.sql import identifier
from builders.views import connect
from eval_harness.data.dataset import open_dataset
from eval_harness.report.listing import is_listed
from eval_harness.report.study import Study

_COLUMNS = "id, task, split, query, answers, passages, gold, n_tokens, confounding_ratio, flags"

Instances = dict[tuple[str, str], dict[str, Any]]
"""Rows of the dataset by config and id."""


def instances_of(study: Study, folder: Path) -> Instances:
    """The instances behind a study's results; SetupError if `folder` is not the dataset of the runs."""
    dataset = open_dataset(folder)
    if dataset.manifest_sha256 != study.manifest_sha256:
        raise SetupError(
            f"{folder} is {dataset.name} {dataset.version} ({dataset.manifest_sha256[:12]}), and the runs are on "
            f"{study.title} ({study.manifest_sha256[:12]}); give the dataset of the runs with --dataset"
        )
    wanted: dict[str, set[str]] = {config: set() for config in study.configs}
    n = sum(map(len, study.rows.values()))
    for row in study.all_rows:
        if is_listed(row.id, n):
            wanted[row.config].add(row.id)
    return _read(folder, wanted)


def first_instances(folder: Path, configs: Collection[str], split: str, limit: int) -> Instances:
    """The first `limit` instances of each task in the split of each config (default: all configs)."""
    there = read_manifest(folder).configs
    if unknown := sorted(set(configs) - set(there)):
        raise SetupError(f"no config {', '.join(unknown)} in {folder}; available: {', '.join(there)}")
    connection = connect(folder)
    wanted: dict[str, list[str]] = {}
    for config in configs or there:
        taken: Counter[str] = Counter()
        wanted[config] = []
        for id, task in connection.execute(
            f"SELECT id, task FROM {identifier(config)} WHERE split = ?", [split]
        ).fetchall():
            taken[task] += 1
            if taken[task] <= limit:
                wanted[config].append(id)
    if not any(wanted.values()):
        splits = sorted({split for config in configs or there for split in there[config].files})
        raise SetupError(f"no rows in split {split!r} of {folder}; available splits: {', '.join(splits)}")
    return _read(folder, wanted)


def _read(folder: Path, wanted: Mapping[str, Collection[str]]) -> Instances:
    """The wanted ids of each config, in file order."""
    connection = connect(folder)
    found: Instances = {}
    for config, ids in wanted.items():
        query = f"SELECT {_COLUMNS} FROM {identifier(config)} WHERE id IN (SELECT unnest(?))"
        result = connection.execute(query, [list(ids)])
        names = [column[0] for column in result.description]
        for values in result.fetchall():
            row = dict(zip(names, values, strict=True))
            found[config, row["id"]] = row
    return found
