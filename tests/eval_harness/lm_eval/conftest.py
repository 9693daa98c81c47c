"""A dataset whose manifest names its configs and tasks, as `icr2 build` writes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.eval_harness.conftest import FEVER, NQ, NQ_2, WOW, Rows, instance, write_config

NO_GOLD = instance("nq-3", "nq", "q three", ["x"], [], ["Nothing."])
NO_ANSWER = instance("nq-4", "nq", "q four", ["<unk>"], [0], ["Nothing."])
HOTPOTQA = instance("hotpotqa-1", "hotpotqa", "which town", ["Ely"], [0], ["Ely is a town.", "Bath is a town."])
ROWS = (NQ, FEVER, NO_GOLD, HOTPOTQA, NQ_2, NO_ANSWER, WOW)
CONFIGS = ("1k_p0", "1k_p75", "4k_p0", "loft_4k")


def write_dataset(folder: Path, rows: Rows = ROWS, configs: tuple[str, ...] = CONFIGS) -> Path:
    """Writes a dataset whose configs hold the same rows, with a test split and no other."""
    for config in configs:
        write_config(folder, config, rows)
    file: dict[str, Any] = {"path": "test-00000-of-00001.parquet", "rows": len(rows)}
    manifest = {
        "format": "icr2-manifest/1",
        "name": "tiny",
        "version": "1.0.0",
        "recipe": {"tasks": {row["task"]: {} for row in rows}},
        "configs": {config: {"test": [file]} for config in configs} | {"train_only": {"train": [file]}},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Four configs of the same seven instances of four tasks."""
    return write_dataset(tmp_path / "tiny")
