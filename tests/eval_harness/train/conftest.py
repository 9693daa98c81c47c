"""A dataset of eight questions to learn by heart, and trainings of a tiny model on it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_harness.models.training import Training
from eval_harness.train.job import train
from eval_harness.train.settings import Settings
from eval_harness.train.sft import SFT
from tests.eval_harness.conftest import Rows, instance, save_model, write_config
from tests.manifests import write_manifest_2

PLACES = ("Lima", "Oslo", "Rome", "Cairo")
CONFIG = "1k_p0"


def learnable() -> list[dict[str, Any]]:
    """Eight short instances of three tasks, each with gold at another place."""
    rows = []
    for n in range(8):
        texts = [f"{PLACES[(n + turn) % 4]} is {turn}." for turn in range(2)]
        gold = n // 4
        task, answer = [("nq", PLACES[(n + gold) % 4]), ("fever", "SUPPORTS"), ("wow", f"It is {n}.")][n % 3]
        rows.append(instance(f"{task}-{n}", task, f"q{n}", [answer], [gold], texts))
    return rows


def write_dataset(folder: Path, train: Rows, validation: Rows, config: str = CONFIG) -> Path:
    """A dataset with both splits."""
    for split, rows in (("train", train), ("validation", validation)):
        write_config(folder, config, rows, f"{split}-00000-of-00001.parquet")
    write_manifest_2(folder, "tiny")
    return folder


def write_splits(folder: Path) -> Path:
    """The eight instances as train, validation and test split of a dataset that a report reads too."""
    for split in ("train", "validation", "test"):
        write_config(folder, CONFIG, learnable(), f"{split}-00000-of-00001.parquet")
    write_manifest_2(folder, "tiny")
    return folder


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The eight instances, in both splits."""
    return write_dataset(tmp_path_factory.mktemp("learnable") / "data", learnable(), learnable())


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama with a chat template."""
    return save_model(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture
def trained(dataset: Path, base: Path, tmp_path: Path) -> Callable[..., tuple[Path, Training]]:
    """Trains the tiny model for four steps, or as settings say; gives the checkpoint and its record."""

    def run(name: str = "out", folder: Path = dataset, model: Path = base, **chosen: Any) -> tuple[Path, Training]:
        record = train(folder, str(model), settings(**chosen), tmp_path / name, SFT)
        assert record is not None
        return tmp_path / name, record

    return run


def settings(**chosen: Any) -> Settings:
    """Settings of a short training on a CPU."""
    usual: dict[str, Any] = {"variant": "cci", "configs": (CONFIG,), "dtype": "float32", "lr": 1e-2}
    return Settings(**usual | {"steps": 4, "eval_every": 2, "accumulate": 2} | chosen)


def losses(folder: Path) -> list[tuple[int, float, float]]:
    """Step, loss and loss on validation of each line of a log, -1 where a line has none."""
    lines = [json.loads(line) for line in (folder / "train_log.jsonl").read_text().splitlines()]
    return [(line["step"], line.get("loss", -1), line.get("validation_loss", -1)) for line in lines]
