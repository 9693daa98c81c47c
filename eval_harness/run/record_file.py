"""`run.json` as it is read: the fields that reports and later runs depend on, each of its type."""

from pathlib import Path
from typing import Any

from pydantic import Field

from builders.errors import SetupError
from builders.typed import Open, read_json, typed
from eval_harness.run.earlier import upgraded_record

_THEN = "restore it, or rerun with another --out"


class _Named(Open):
    name: str


class _Dataset(_Named):
    version: str
    manifest_sha256: str


class _Config(Open):
    family: str
    length: str | None = None
    tokens: int | None = Field(None, gt=0)
    ratio: int | None = Field(None, ge=0, le=100)
    budget: int | None = None


class _Record(Open):
    dataset: _Dataset
    model: _Named
    configs: dict[str, _Config]
    methods: list[str] = Field(default_factory=list)
    planned: dict[str, int] = Field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = Field(default_factory=dict)
    limit: int | None = None
    shard: list[int] | str | None = None
    split: str | None = None
    protocol: str | None = None


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a run folder with the fields of this version; SetupError names the field that is wrong."""
    path = folder / "run.json"
    record = read_json(path, _THEN)
    if not isinstance(record, dict) or not isinstance(record.get("configs", {}), dict | list):
        raise SetupError(f"{path} is not a run record; {_THEN}")
    if isinstance(record.get("configs"), list):  # of an earlier version, which names them only
        typed(record["configs"], list[str], f"{path}: configs", _THEN)
        typed(record.get("tasks") or [], list[str], f"{path}: tasks", _THEN)
        typed(record.get("max_new_tokens") or {}, dict[str, int], f"{path}: max_new_tokens", _THEN)
        record = upgraded_record(record)
    typed(record, _Record, path, _THEN)
    return record
