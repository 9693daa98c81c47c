"""`icr2 train`."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands.train import register
from eval_harness.models.training import read_training
from tests.eval_harness.conftest import ROWS
from tests.eval_harness.train.conftest import write_dataset

APP = typer.Typer()
register(APP)


def run(*arguments: object) -> str:
    """What the command prints."""
    done = CliRunner().invoke(APP, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Instances of three tasks."""
    return write_dataset(tmp_path / "data", ROWS, ROWS)


def test_one_example_of_each_task_is_shown_what_is_learned_apart(folder: Path, base: Path) -> None:
    shown = run("train", "show", folder, "--variant", "cci", "--config", "1k_p0", "--model", base)
    assert [
        line for line in shown.splitlines() if line in ("nq  nq-1", "nq  nq-2", "fever  fever-1", "wow  wow-1")
    ] == [
        "nq  nq-1",
        "fever  fever-1",
        "wow  wow-1",
    ]
    assert "target (loss): 18 tokens\n<RETRIEVAL>│[│2│]│</RETRIEVAL>│\n│J│a│n│e│ │A│u│s│t│e│n│<|im_end|>\n" in shown
    assert "Question: who wrote Emma\nAnswer:<|im_end|>\n<|im_start|>assistant\ntarget (loss)" in shown
    only = run(
        *("train", "show", folder, "--variant", "rta", "--no-marks", "--config", "1k_p0", "--model", base),
        *("--task", "wow"),
    )
    assert "RETRIEVAL" not in only
    assert only.startswith("wow  wow-1\nprompt (no loss): ")


def test_the_middle_of_a_long_context_is_left_out_unless_it_is_asked_for(tmp_path: Path, base: Path) -> None:
    from tests.eval_harness.conftest import instance

    row = instance("nq-1", "nq", "q", ["a"], [0], [f"{n} {'x' * 500}" for n in range(6)])
    folder = write_dataset(tmp_path / "data", [row], [row])
    usual = ("train", "show", folder, "--variant", "da", "--config", "1k_p0", "--model", base)
    assert "characters ...]" in run(*usual)
    assert "3 xxx" in run(*usual, "--whole")
    assert "3 passages dropped to fit" in run(*usual, "--max-length", 2000)
    assert "skipped: over_long" in run(*usual, "--max-length", 300)


def test_a_character_of_several_tokens_is_shown_whole(tmp_path: Path, base: Path) -> None:
    from tests.eval_harness.conftest import instance

    row = instance("nq-1", "nq", "q", ["née"], [0], ["t"])
    folder = write_dataset(tmp_path / "data", [row], [row])
    shown = run("train", "show", folder, "--variant", "da", "--config", "1k_p0", "--model", base)
    assert "target (loss): 5 tokens\nn│é│e│<|im_end|>" in shown


@pytest.mark.slow
def test_a_model_is_trained_by_one_command(folder: Path, base: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    usual = ("train", "sft", folder, "--variant", "rta", "--config", "1k_p0", "--model", base, "--out", out)
    options = ("--steps", 2, "--accumulate", 1, "--lora", "--lora-rank", 2, "--dtype", "float32")
    options = (*options, "--samples", "nq=1,wow=1", "--seed", 7)
    printed = run(*usual, *options)
    assert printed == f"wrote the checkpoint {out}: step 2 of 2, which had the lowest loss on validation\n"
    record = read_training(out)
    assert record is not None
    assert (record.variant, record.seed, record.settings["lr"]) == ("rta", "7", 2e-4)
    assert sorted(record.samples) == ["nq", "wow"]
    assert run(*usual, *options) == printed


def test_what_there_is_not_is_said(folder: Path, base: Path, tmp_path: Path) -> None:
    usual = ("train", "sft", folder, "--variant", "da", "--model", base, "--out", tmp_path / "out")
    with pytest.raises(SetupError, match=r"has no split 'dev'; available: train, validation"):
        run(*usual, "--config", "1k_p0", "--validation-split", "dev")
    with pytest.raises(SetupError, match="no config '2k_p0' in tiny; there are 1k_p0"):
        run(*usual, "--config", "2k_p0")
    with pytest.raises(SetupError, match="the test split must not be used"):
        run(*usual, "--config", "1k_p0", "--split", "test")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.work").exists()
    with pytest.raises(SetupError, match="1k_p0/train has no task quest; available: fever, nq, wow"):
        run("train", "show", folder, "--variant", "da", "--model", base, "--config", "1k_p0", "--task", "quest")


def test_the_settings_for_launching_lie_in_a_folder() -> None:
    assert {path.name for path in Path(run("train", "configs").strip()).iterdir()} == {
        "fsdp_8.yaml",
        "gpu_1.yaml",
        "zero3_8.yaml",
    }
