"""Eight instances that a tiny model can learn by heart, in a dataset with every split, and that model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval_harness.train.head.settings import HeadSettings
from tests.eval_harness.conftest import instance, write_config
from tests.eval_harness.train.conftest import save_learner
from tests.manifests import write_manifest_2

COLOURS = ("red", "blue", "gold", "pink", "jade", "teal", "grey", "plum")

BY_HEART = HeadSettings(
    "da",
    ("1k",),
    k=2,
    steps=140,
    epochs=1000,
    lr=3e-3,
    head_lr=1e-2,
    width=64,
    eval_every=140,
    patience=0,
    dtype="float32",
)
SHORT = replace(BY_HEART, steps=6, accumulate=2, eval_every=2)


def rows() -> list[dict[str, Any]]:
    """Questions over three to five passages, two of which are gold for every fourth."""
    found = []
    for at, colour in enumerate(COLOURS):
        texts = [f"box {other} is {COLOURS[(other + at) % 8]}" for other in range(3 + at % 3)]
        gold = [at % len(texts)] + ([(at + 1) % len(texts)] if at % 4 == 3 else [])
        task = "fever" if at == 5 else "nq"
        answers = ["SUPPORTS"] if task == "fever" else [colour]
        found.append(instance(f"{task}-{at}", task, f"box {at}?", answers, gold, texts))
    return found


@pytest.fixture(scope="session")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset whose other splits hold what is learned."""
    folder = tmp_path_factory.mktemp("boxes")
    for split in ("train", "validation", "test"):
        write_config(folder, "1k", rows(), f"{split}-00000-of-00001.parquet")
    write_manifest_2(folder, "boxes")
    return folder


@pytest.fixture(scope="session")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learns the boxes fast."""
    return save_learner(tmp_path_factory.mktemp("models") / "learner", rows())


def log_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "train_log.jsonl").read_text().splitlines()]
