"""A whole experiment on a tiny model, and what is said where it cannot go on."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import icr2_cli
from builders.errors import SetupError
from eval_harness.commands.experiment import register
from eval_harness.experiments.commands import Command, Place
from eval_harness.experiments.registry import EXPERIMENTS
from eval_harness.experiments.run import needed, report, run
from eval_harness.experiments.scale import Scale, scale_of
from tests.eval_harness.conftest import save_model
from tests.eval_harness.train.conftest import CONFIG, write_splits

APP = typer.Typer()
register(APP)


def in_this_process(written: list[str]) -> int:
    """Runs `icr2` without a process of its own, which would load everything again."""
    module, *arguments = written
    assert module == "icr2_cli"
    icr2_cli.app(arguments, standalone_mode=False)
    return 0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Eight questions, a random model, and a scale of two steps."""
    dataset = write_splits(tmp_path / "data")
    return Place(_scale(str(save_model(tmp_path / "model", positions=512))), dataset, "train", tmp_path / "out")


def _scale(model: str) -> Scale:
    changes = {"model": model, "configs": [CONFIG], "learned": [CONFIG], "samples": 2, "shares": [0.5, 1], "k": 1}
    look = {"positions": {"rta": "question", "cci": "last"}, "probe": {"limit": 2, "m": "1,2"}, "rap": {"da": "1x1"}}
    steps = {"train": {"steps": 1, "eval-every": 1, "eval-n": 1}}
    more = {"confounded": [CONFIG], "sweep": {"limit": 2, "m": "1,2", "sweep": "1,2"}, "timed": 1}
    made = {"recipe": "needles", "set": ["lengths=[128]", "depths=[0, 100]", "limit=1"], "options": {"limit": 1}}
    asked = {"configs": [CONFIG], "options": {"limit": 1, "k": 1, "max-new-tokens": 2}}
    method = ["closed_book", "oracle_rag", "multistep@1x1x1"]
    told = {"task": "nq", "limit": 1, "max-new-tokens": 2, "query-tokens": 8, "index": "bm25s", "method": method}
    more["protocols"] = {"oncu": [asked], "needles": [made], "frames": [{"configs": [CONFIG], "options": told}]}
    return scale_of("tiny", changes | look | steps | more | {"answer": {"limit": 1}})


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_all_experiments_run_to_a_report_and_what_is_there_is_not_made_again(place: Place) -> None:
    chosen = list(EXPERIMENTS.values())
    run(place, needed(place, chosen), in_this_process)
    made = {path: path.stat().st_mtime_ns for path in (place.out / "models").rglob("*") if path.is_file()}
    run(place, needed(place, [EXPERIMENTS["table9"]]), in_this_process)
    assert {path: path.stat().st_mtime_ns for path in (place.out / "models").rglob("*") if path.is_file()} == made

    other = place._replace(scale=place.scale.model_copy(update={"k": 2}))
    with pytest.raises(SetupError, match=r"contains another run, which differs in scale\.k; choose another --out"):
        run(other, needed(other, chosen), in_this_process)

    written = {path.name for path in report(place, chosen, "tiny")}
    of_protocols = {name for name in EXPERIMENTS if name.partition("_")[0] in place.scale.protocols}
    tables = {f"{name}.csv" for name in {*EXPERIMENTS} - of_protocols}
    figures = {f"figure{n}.png" for n in (5, 6, 7, 9)}  # one ratio alone makes no figure 1
    tables |= {f"table{n}-published.csv" for n in ("3", "4", "5", "6", "6-recall", "9")} | {"table6-recall.csv"}
    tables |= {f"oncu-data-{name}.csv" for name in ("oncu", "scores", "validity", "modes")}
    tables |= {f"needles-needles-{name}.csv" for name in ("needles", "reach")}
    tables |= {f"frames-data-{name}.csv" for name in ("frames", "rounds")}
    figures |= {"needles_all-needles-figure_depth.png"}
    assert written == {*tables, *figures, "report.md", "report.html"}
    text = (place.out / "report" / "report.md").read_text()
    for title in ("Four conditions: ", "Valid denominators: ", "Needles: ", "FRAMES: ", "FRAMES by round: "):
        assert f"## {title}" in text
    assert "| single_step | closed_book | gemini-pro | accuracy 40.8 |" in text
    for row in (
        "Closed-book",
        "Vanilla RAG",
        "SFT-RTA",
        "RetHead, gen+ret",
        "SFT-DA + RAP",
        "SFT-CCI without special tokens",
    ):
        assert f"\n| {row} |" in text
    assert "\n| SFT-DA, 3 samples |" in text and "\n| SFT-DA, 6 samples |" in text
    lines = (place.out / "report" / "figure6.csv").read_text().splitlines()
    found = [line.split(",")[:4] for line in lines[1:]]
    assert [line for line in found if line[1] == "all tasks"] == [
        ["untuned", "all tasks", "question", "6"],  # two of each of three tasks
        ["da", "all tasks", "question", "6"],
        ["rta", "all tasks", "question", "6"],
        ["cci", "all tasks", "last", "6"],
    ]
    assert [line for line in found if line[:2] == ["rta", "nq"]] == [["rta", "nq", "question", "2"]]


def test_what_is_there_is_not_made_and_what_fails_is_named(tmp_path: Path) -> None:
    place = Place(scale_of("tiny", {}), tmp_path / "none", "train", tmp_path)
    ran: list[list[str]] = []

    def fails(written: list[str]) -> int:
        ran.append(written)
        return 2

    with pytest.raises(SetupError, match="icr2 eval data ended with exit code 2; fix the error above"):
        run(place, [Command(["build"], tmp_path), Command(["eval", "data"]), Command(["eval", "more"])], fails)
    assert ran == [["icr2_cli", "eval", "data"]]


def test_a_command_has_a_process_of_its_own(tmp_path: Path) -> None:
    place = Place(scale_of("tiny", {}), tmp_path / "none", "train", tmp_path)
    with pytest.raises(SetupError, match="icr2 build nothing ended with exit code 2"):
        run(place, [Command(["build", "nothing"])])


def asked(*arguments: str) -> str:
    """What the command prints."""
    done = CliRunner().invoke(APP, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_dry_run_prints_commands_with_the_changes() -> None:
    changes = ("--model", "m", "--config", "2k_p75", "--train-config", "2k_p100", "--samples", "5", "--steps", "7")
    more = ("--limit", "3", "--probe-limit", "4", "--set", "data=a b", "--split", "validation")
    lines = asked("table4", "--dataset", "d", "--dry-run", *changes, *more).splitlines()
    assert lines[0].endswith("--set 'data=a b' --out d")
    assert lines[1].startswith("icr2 probe d --config 2k_p75 --model m ") and "--limit 4" in lines[1]
    assert "--config 2k_p100 --model m --variant da --samples 5 --split validation" in lines[3]
    assert "--steps 7" in lines[3] and lines[2].count("--limit 3") == 1


def test_names_that_are_none_are_refused() -> None:
    with pytest.raises(SetupError, match="no experiment table1; available: table2, table3, table4, "):
        asked("table1", "--dataset", "d")
    with pytest.raises(SetupError, match=r"no accelerate configuration gpu_2; available: fsdp_8, gpu_1, zero3_8, none"):
        asked("table4", "--dataset", "d", "--launch", "gpu_2")
