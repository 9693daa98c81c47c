"""The record of a checkpoint, and what a training is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from builders.manifest import Config, File, Manifest
from eval_harness.data.dataset import Dataset
from eval_harness.models.local import Checkpoint
from eval_harness.models.training import FILE, read_training, write_training
from eval_harness.train.points import Point
from eval_harness.train.settings import finished_record, request, wanted
from tests.eval_harness.specs import NQ
from tests.eval_harness.train.conftest import settings

COUNTS = {"train": {"nq": {"used": 3, "over_long": 1}}, "validation": {"nq": {"used": 2}}}


MANIFEST = Manifest(
    format="icr2-manifest/2",
    name="tiny",
    version="1.0.0",
    tasks={"nq": NQ},
    configs={
        "1k_p0": Config(family="icr2", files={"train": [File(path="a.parquet", rows=1, bytes=1, sha256="0" * 64)]})
    },
    sha256="ab" * 32,
)


def made(**chosen: Any) -> dict[str, Any]:
    """What is asked for with some settings."""
    dataset = Dataset(Path("d"), MANIFEST)
    return request(settings(**chosen), dataset, Checkpoint(Path("m"), "tiny-model", "sha256:cd"))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = finished_record(made(variant="rta", lora=True), COUNTS, Point(tmp_path, 40, 30))
    write_training(tmp_path, record)
    found = read_training(tmp_path)
    assert found == record
    assert found is not None
    assert (found.variant, found.marks, found.base.name, found.dataset.configs) == (
        "rta",
        True,
        "tiny-model",
        ["1k_p0"],
    )
    assert (found.settings["steps_taken"], found.settings["best_step"]) == (40, 30)
    assert found.samples["nq"] == {"used": 3, "over_long": 1}
    assert "peft" in found.versions


def test_a_folder_without_one_has_none(tmp_path: Path) -> None:
    assert read_training(tmp_path) is None


@pytest.mark.parametrize(
    "change",
    [{"format": "icr2-training/9"}, {"variant": None}, {"more": 1}, {"base": {"name": "x"}}, "not JSON"],
)
def test_a_broken_record_is_refused_and_says_where(change: Any, tmp_path: Path) -> None:
    record = finished_record(made(), COUNTS, Point(tmp_path, 4, 4))
    write_training(tmp_path, record)
    text = "{" if isinstance(change, str) else json.dumps(json.loads((tmp_path / FILE).read_text()) | change)
    (tmp_path / FILE).write_text(text)
    with pytest.raises(SetupError, match=r"training\.json is no record of a training \(.+\); train the model again"):
        read_training(tmp_path)


def test_direct_answers_have_no_marks_and_an_ablation_has_none_either() -> None:
    assert [made(variant=name)["marks"] for name in ("da", "rta", "cci")] == [False, True, True]
    assert not made(variant="rta", marks=False)["marks"]


def test_the_papers_learning_rate_unless_adapters_are_learned() -> None:
    assert [made(lr=None, lora=lora)["settings"]["lr"] for lora in (False, True)] == [1e-5, 2e-4]
    assert made(lr=3e-4)["settings"]["lr"] == 3e-4


def test_two_rounds_of_all_samples_unless_that_is_more_than_the_papers_steps() -> None:
    found = settings(steps=None, epochs=2.0, batch_size=2, accumulate=3, processes=4, eval_every=None)
    assert found.samples_a_step() == 24
    assert found.n_steps(100) == 9  # 200 / 24, rounded up
    assert found.n_steps(10**7) == 10_000
    assert settings(steps=7).n_steps(100) == 7
    assert [found.interval(steps) for steps in (10_000, 5)] == [500, 1]


def test_steps_never_pass_the_epochs() -> None:
    """The paper's run: 10,000 steps of 8 x 4 samples would be 12.8 rounds of its 25,000 samples."""
    run = {"batch_size": 1, "accumulate": 4, "processes": 8}
    assert settings(steps=10_000, epochs=2.0, **run).n_steps(25_000) == 1563  # 50,000 / 32, rounded up
    assert settings(steps=10_000, epochs=12.8, **run).n_steps(25_000) == 10_000
    assert settings(steps=3, epochs=0.1, **run).n_steps(2) == 1


@pytest.mark.parametrize(
    ("written", "found"),
    [("nq=7500,fever=5000", {"nq": 7500, "fever": 5000}), ("40", {"": 40}), (" nq = 3", {"nq": 3})],
)
def test_samples_are_written_by_task_or_as_one_number(written: str, found: dict[str, int]) -> None:
    assert wanted(written) == found
    assert wanted(None)[""] > 10**9


@pytest.mark.parametrize("written", ["nq", "nq=0", "nq=3,4", "nq=1,nq=2", "=", "", "nq=-1"])
def test_other_writings_are_refused(written: str) -> None:
    with pytest.raises(SetupError, match="write nq=7500,fever=5000"):
        settings(samples=written).check()


def test_the_test_split_is_neither_learned_nor_chosen_by() -> None:
    for chosen in ({"split": "test"}, {"validation_split": "test"}):
        with pytest.raises(SetupError, match="the test split must not be used"):
            settings(**chosen).check()
