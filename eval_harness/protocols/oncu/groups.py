"""Groups of instances: by task, depth, column value or flag, or each instance by itself."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from builders.errors import SetupError
from builders.sql import identifier
from builders.views import connect, readable
from eval_harness.protocols.oncu.fields import BESIDE, FIELDS, values_of
from eval_harness.protocols.oncu.matched import NONE, Matched
from eval_harness.protocols.oncu.recovery import Estimate, estimates

MODEL, TASK, INSTANCE, DEPTH = "model", "task", "instance", "depth"
FROM_ROWS = (TASK, MODEL, INSTANCE, DEPTH)  # groupings without the dataset
COLUMNS = ("hops", "reasoning_types", "context_id", "flags")

Labels = dict[str, dict[str, list[str]]]
"""The groups of each instance, by config and id."""


def groups_of(matched: Matched, by: str, labels: Labels) -> dict[str, list[str]]:
    """The ids in each group of a model's instances on a config; `labels` are the dataset's for `by`."""
    found: dict[str, list[str]] = {}
    for id, rows in matched.rows.items():
        own = {TASK: [rows[NONE].task], MODEL: ["all tasks"], INSTANCE: [id], DEPTH: [_depth(rows[NONE].depth)]}
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
    return [_group(matched, name, ids) for name, ids in groups_of(matched, by, labels).items()]


def by_depth(matched: Matched) -> dict[int, Group]:
    """The groups of instances by the depth of their gold, in percent of the context."""
    found: dict[int, list[str]] = {}
    for id, rows in matched.rows.items():
        if (depth := rows[NONE].depth) is not None:
            found.setdefault(depth, []).append(id)
    return {depth: _group(matched, _depth(depth), ids) for depth, ids in sorted(found.items())}


def labels_of(folder: Path, configs: Collection[str], split: str, by: str) -> Labels:
    """The groups of instances by a column or a flag of their dataset.

    SetupError lists the columns and flags if `by` is neither.
    """
    column = by if by in COLUMNS else "flags"
    with readable(folder):
        connection = connect(folder)
        rows = {
            config: connection.execute(
                f"SELECT id, {column} FROM {identifier(config)} WHERE split = ?", [split]
            ).fetchall()
            for config in configs
        }
    if by in COLUMNS:
        return {config: {id: _texts(value) for id, value in found} for config, found in rows.items()}
    flags = {flag for found in rows.values() for _, value in found for flag in value or ()}
    if by not in flags:
        there = ", ".join((*FROM_ROWS, *COLUMNS, *sorted(flags)))
        raise SetupError(f"no column and no flag {by!r} to group by; available: {there}")
    return {
        config: {id: [by if by in (value or ()) else f"no {by}"] for id, value in found}
        for config, found in rows.items()
    }


def _group(matched: Matched, name: str, ids: Sequence[str]) -> Group:
    fields = (*FIELDS, BESIDE)
    return Group(matched, name, estimates(_scores(matched, ids), matched.methods, fields, *matched[:2], name))


def _scores(matched: Matched, ids: Sequence[str]) -> dict[str, list[np.ndarray]]:
    """By task, an array (instances, conditions, fields) for each question, in the order of ids.

    A question may have several instances, with its gold at different depths.
    """
    by_task: dict[str, dict[str, list[list[list[float]]]]] = {}
    for id in sorted(ids):
        rows = matched.rows[id]
        scores = [list(values_of(rows[method]).values()) for method in matched.methods]
        by_task.setdefault(rows[NONE].task, {}).setdefault(rows[NONE].question_id, []).append(scores)
    return {task: [np.array(instances) for instances in found.values()] for task, found in by_task.items()}


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(one) for one in value] or ["none"]
    return ["none" if value is None else str(value)]


def _depth(percent: int | None) -> str:
    return "no depth" if percent is None else f"depth_{percent}"


def _natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts depth_100 after depth_20."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]
