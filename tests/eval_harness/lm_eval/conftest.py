"""A dataset whose manifest names its configs and tasks, as `icr2 build` writes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.eval_harness.conftest import FEVER, NQ, NQ_2, WOW, Rows, instance, write_config
from tests.manifests import described

NO_GOLD = instance("nq-3", "nq", "q three", ["x"], [], ["Nothing."])
NO_ANSWER = instance("nq-4", "nq", "q four", ["<unk>"], [0], ["Nothing."])
HOTPOTQA = instance("hotpotqa-1", "hotpotqa", "which town", ["Ely"], [0], ["Ely is a town.", "Bath is a town."])
ROWS = (NQ, FEVER, NO_GOLD, HOTPOTQA, NQ_2, NO_ANSWER, WOW)
CONFIGS = ("1k_p0", "1k_p75", "4k_p0", "loft_4k")


TASKS: dict[str, dict[str, Any]] = {
    "nq": {"kind": "qa"},
    "fever": {"kind": "fact", "labels": {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}},
    "hotpotqa": {"kind": "qa"},
    "wow": {"kind": "dialogue"},
}
FACTS = {
    "1k_p0": {"family": "icr2", "length": "1k", "ratio": 0},
    "1k_p75": {"family": "icr2", "length": "1k", "ratio": 75},
    "4k_p0": {"family": "icr2", "length": "4k", "ratio": 0},
    "loft_4k": {"family": "loft", "length": "4k"},
    "train_only": {"family": "icr2", "length": "1k", "ratio": 50},
}


def write_dataset(folder: Path, rows: Rows = ROWS, configs: tuple[str, ...] = CONFIGS) -> Path:
    """Writes a dataset whose configs have the same test rows, and a config without a test split."""
    for config in configs:
        write_config(folder, config, rows)
    write_config(folder, "train_only", rows, "train-00000-of-00001.parquet")
    files = {
        config: {split: [described(folder / config / f"{split}-00000-of-00001.parquet", folder)]}
        for config, split in [*((config, "test") for config in configs), ("train_only", "train")]
    }
    manifest = {
        "format": "icr2-manifest/2",
        "name": "tiny",
        "version": "1.0.0",
        "tasks": {task: TASKS[task] for task in dict.fromkeys(row["task"] for row in rows)},
        "configs": {config: {**FACTS[config], "files": found} for config, found in files.items()},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Four configs of the same seven instances of four tasks."""
    return write_dataset(tmp_path / "tiny")
