"""Datasets ready to publish, derived from a copy of a built one without another build."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.card import card
from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.schema import INSTANCES
from validation.checks import CHECKS

Row = dict[str, Any]


def manifest_of(folder: Path) -> dict[str, Any]:
    """The current manifest."""
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def make_ready(folder: Path, manifest: dict[str, Any] | None = None) -> Path:
    """Writes manifest (where given), card, and a passing validation.json and statistics.json of it."""
    manifest = manifest or manifest_of(folder)
    write(folder / "manifest.json", manifest)
    with suppress(SetupError):  # a manifest that no reader takes has no card of its own: the earlier one stays
        (folder / "README.md").write_text(card(read_manifest(folder)), encoding="utf-8")
    digest = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    found = {"severity": "error", "status": "passed", "examined": 9, "failing": 0, "ids": []}
    checks = [{"name": name, **found} for name in CHECKS]
    validation = {"format": "icr2-validation/1", "complete": True, "passed": True, "checks": checks}
    write(folder / "validation.json", {**validation, "manifest_sha256": digest})
    checked = hashlib.sha256((folder / "validation.json").read_bytes()).hexdigest()
    statistics = {"format": "icr2-statistics/1", "manifest_sha256": digest, "validation_sha256": checked}
    write(folder / "statistics.json", statistics)
    return folder


def write(path: Path, value: Any) -> None:
    """Writes JSON."""
    path.write_text(json.dumps(value), encoding="utf-8")


def only(folder: Path, configs: Iterable[str], version: str = "1.0.0") -> Path:
    """Leaves only some configs, as another build with them would have."""
    manifest = manifest_of(folder)
    configs = set(configs)
    for config in set(manifest["configs"]) - configs:
        shutil.rmtree(folder / config)
        del manifest["configs"][config]
    manifest["version"] = manifest["recipe"]["version"] = version
    return make_ready(folder, manifest)


def change_rows(folder: Path, config: str, split: str, change: Callable[[list[Row]], list[Row]]) -> None:
    """Rewrites a split with changed rows, and updates the manifest."""
    manifest = manifest_of(folder)
    (file,) = manifest["configs"][config]["files"][split]
    path = folder / file["path"]
    rows = change(pq.read_table(path).to_pylist())
    path.unlink()  # the copy may be linked
    pq.write_table(pa.Table.from_pylist(rows, schema=INSTANCES), path)
    data = path.read_bytes()
    file.update(rows=len(rows), bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    make_ready(folder, manifest)


def rows_of(folder: Path, config: str, split: str) -> list[Row]:
    """The rows of a split."""
    files = manifest_of(folder)["configs"][config]["files"][split]
    return [row for file in files for row in pq.read_table(folder / file["path"]).to_pylist()]
