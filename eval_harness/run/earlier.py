"""Reads runs of earlier versions: facts that they encode in names become the fields of this version."""

from collections.abc import Mapping
from typing import Any

from builders.format1 import config_facts, question_id, spec_of
from builders.tasks import TaskSpec

FORMAT = "icr2-run/2"


def described(task: TaskSpec) -> dict[str, Any]:
    """The fields of a task in a record."""
    return {"kind": task.kind, "labels": dict(task.labels), "scorer": task.scored_by}


def upgraded_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A run's record with the facts of its configs, added if an earlier version left them out."""
    configs = record["configs"]
    if isinstance(configs, Mapping):
        return dict(record)
    limits = record.get("max_new_tokens") or {}
    return {
        **record,
        "format": FORMAT,
        "configs": {name: config_facts(name, {}) for name in configs},
        "tasks": {name: described(spec_of(name)) for name in record.get("tasks", ())},
        "max_new_tokens": {**dict.fromkeys(("set", "needle"), limits.get("qa")), **limits} if limits else None,
    }


def upgraded_row(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result with those of its task and question, added if an earlier version left them out."""
    if "kind" in fields:
        return dict(fields)
    task, family = spec_of(fields["task"]), config_facts(fields["config"], {})["family"]
    facts = {"kind": task.kind, "scorer": task.scored_by}
    return {**fields, **facts, "question_id": question_id(fields["id"], family)}
