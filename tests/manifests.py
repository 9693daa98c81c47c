"""Manifests of datasets that tests write by hand."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders import format1, manifest
from builders.format1 import FORMAT


def write_manifest(folder: Path, name: str = "data", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    """Writes the manifest of the Parquet files in a folder, `{config}/{split}-*.parquet`, and returns it."""
    configs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for path in sorted(folder.glob("*/*.parquet")):
        splits = configs.setdefault(path.parent.name, {})
        splits.setdefault(path.name.split("-")[0], []).append(described(path, folder))
    made = {"format": FORMAT, "name": name, "version": version, "configs": configs, **more}
    (folder / "manifest.json").write_text(json.dumps(made), encoding="utf-8")
    return made


def described(path: Path, folder: Path) -> dict[str, Any]:
    """What a manifest says of a file."""
    content = path.read_bytes()
    return {
        "path": path.relative_to(folder).as_posix(),
        "rows": pq.read_metadata(path).num_rows,
        "bytes": len(content),
        "sha256": sha256(content).hexdigest(),
    }


def write_manifest_2(folder: Path, name: str = "data", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    """Writes the manifest of format 2 of the Parquet files in a folder, whose configs have names of format 1."""
    made = format1.upgraded(write_manifest(folder, name, version, **more), folder) | {"format": manifest.FORMAT}
    tasks = {task: {key: value for key, value in of.items() if key != "name"} for task, of in made["tasks"].items()}
    (folder / "manifest.json").write_text(json.dumps(made | {"tasks": tasks}), encoding="utf-8")
    return made
