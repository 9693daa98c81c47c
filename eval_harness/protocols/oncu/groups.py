"""Which instances are taken together: those of a task, of a column's value, of a flag, or each by itself."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from builders.errors import SetupError
from builders.views import connect, readable
from eval_harness.protocols.oncu.fields import BESIDE, FIELDS, values_of
from eval_harness.protocols.oncu.matched import NONE, Matched
from eval_harness.protocols.oncu.recovery import Estimate, estimates

MODEL, TASK, INSTANCE = "model", "task", "instance"
FROM_ROWS = (TASK, MODEL, INSTANCE)  # groupings that need no dataset
COLUMNS = ("hops", "reasoning_types", "context_id", "flags")
DEPTH = "depth"  # flags that say where in the context the gold stands, in percent

Labels = dict[str, dict[str, list[str]]]
"""The groups of each instance, by config and id."""


def groups_of(matched: Matched, by: str, labels: Labels) -> dict[str, list[str]]:
    """The ids in each group of a model's instances on a config; `labels` are those of `by` where it is of a dataset."""
    found: dict[str, list[str]] = {}
    for id, rows in matched.rows.items():
        own = {TASK: [rows[NONE].task], MODEL: ["all tasks"], INSTANCE: [id]}
        for name in own[by] if by in own else labels.get(matched.config, {}).get(id, []):
            found.setdefault(name, []).append(id)
    return dict(sorted(found.items(), key=lambda item: _natural(item[0])))


class Group(NamedTuple):
    """A group of a model's instances on a config, with the estimate of each field."""

    matched: Matched
    name: str
    fields: dict[str, Estimate]


def grouped(matched: Matched, by: str, labels: Labels) -> list[Group]:
    """The groups with their estimates."""
    fields = (*FIELDS, BESIDE)
    return [
        Group(matched, name, estimates(_scores(matched, ids), matched.methods, fields, *matched[:2], name))
        for name, ids in groups_of(matched, by, labels).items()
    ]


def labels_of(folder: Path, configs: Collection[str], split: str, by: str, needed: bool = True) -> Labels:
    """The groups that a column of a dataset, or its flags that begin with `by`, put instances in.

    Where `by` is neither, there are none, or, if they are needed, a SetupError names what there is.
    """
    column = by if by in COLUMNS else "flags"
    with readable(folder):
        connection = connect(folder)
        rows = {
            config: connection.execute(f'SELECT id, {column} FROM "{config}" WHERE split = ?', [split]).fetchall()
            for config in configs
        }
    if by in COLUMNS:
        return {config: {id: _texts(value) for id, value in found} for config, found in rows.items()}
    flags = {flag for found in rows.values() for _, value in found for flag in value or ()}
    if not _flagged(flags, by):
        there = (*FROM_ROWS, *COLUMNS, *sorted({flag.rpartition("_")[0] or flag for flag in flags}))
        if needed:
            raise SetupError(f"no column and no flag {by!r} to group by; there are {', '.join(there)}")
        return {}
    return {
        config: {id: _flagged(value or (), by) or [f"no {by}"] for id, value in found} for config, found in rows.items()
    }


def _scores(matched: Matched, ids: Sequence[str]) -> dict[str, list[np.ndarray]]:
    """By task, an array (instances, conditions, fields) for each question, in the order of ids.

    A question may stand in several instances, with its gold at several depths: without evidence they are one prompt.
    """
    by_task: dict[str, dict[str, list[list[list[float]]]]] = {}
    for id in sorted(ids):
        rows = matched.rows[id]
        question = rows[NONE].prompt_sha256 or id
        scores = [list(values_of(rows[method]).values()) for method in matched.methods]
        by_task.setdefault(rows[NONE].task, {}).setdefault(question, []).append(scores)
    return {task: [np.array(instances) for instances in found.values()] for task, found in by_task.items()}


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(one) for one in value] or ["none"]
    return ["none" if value is None else str(value)]


def _flagged(flags: Collection[str], by: str) -> list[str]:
    return [flag for flag in flags if flag == by or flag.startswith(f"{by}_")]


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that puts depth_100 after depth_20."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]
