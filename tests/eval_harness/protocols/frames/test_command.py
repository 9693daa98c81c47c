"""The commands, from a dataset to the agreement with labels."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from builders.errors import SetupError
from eval_harness.commands import frames as cli
from eval_harness.commands.options import Prompted
from eval_harness.models.fake import FakeModel
from tests.eval_harness.protocols.frames.conftest import reader


def say(prompt: str) -> str:
    """A reader, and a judge for whom only what he is told counts."""
    if "Grade an answer" in prompt:
        reference = prompt.partition("Reference answer: ")[2].partition("\n")[0]
        return "CORRECT" if f"grade: {reference}\n" in prompt else "INCORRECT"
    return reader(prompt)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    def ready(asked: Prompted, *options: Any) -> FakeModel:
        return FakeModel(say, name=asked.model)

    monkeypatch.setattr(cli, "ready", ready)


def icr2(*arguments: object) -> Result:
    app = typer.Typer()
    cli.register(app)
    result = CliRunner().invoke(app, ["frames", *map(str, arguments)])
    if isinstance(result.exception, SetupError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def run(folder: Path, out: Path, *more: object) -> Result:
    methods = [part for name in ("closed_book", "oracle_rag", "multistep@2x2x1") for part in ("--method", name)]
    return icr2("run", folder, "--config", "frames_1k", "--model", "smart", *methods, "--out", out, *more)


def test_from_a_run_to_agreement(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    printed = run(folder, out).output
    assert "FRAMES: accuracy by method" in printed and "Round by round" in printed
    assert json.loads((out / "run.json").read_text())["protocol"] == "frames"
    assert {"report.html", "rounds.png"} <= {path.name for path in (out / "report").iterdir()}
    assert "judge\nwise" not in (out / "report" / "report.md").read_text()

    icr2("judge", out, "--model", "wise")
    assert "wise" in (out / "report" / "report.md").read_text()

    sheet = tmp_path / "labels.csv"
    icr2("sheet", out, "--n", 6, "--out", sheet)
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    for row in rows:
        row["label"] = "correct" if row["answer"] == row["reference"] else "incorrect"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    agreed = icr2("agree", sheet, "--run", out).output
    assert agreed.count("100.0") == 2 and "match" in agreed and "wise" in agreed


def test_a_second_run_asks_nothing(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, tmp_path / "run")
    before = (tmp_path / "run" / "results.jsonl").read_bytes()
    silent = FakeModel(lambda prompt: pytest.fail("asked again"), name="smart")
    monkeypatch.setattr(cli, "ready", lambda *args, **server: silent)
    run(folder, tmp_path / "run")
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == before
    with pytest.raises(SetupError, match="differs in each_round"):
        run(folder, tmp_path / "run", "--no-each-round")


def test_answers_of_the_last_round_alone_make_no_figure(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "run", "--no-each-round")
    assert not (tmp_path / "run" / "report" / "rounds.png").exists()


def test_what_a_run_would_ask(folder: Path) -> None:
    """Four questions with two methods; 3 rounds of queries and 3 answers."""
    methods = ("--method", "closed_book", "--method", "multistep@3x5x2+plan")
    printed = icr2("run", folder, "--config", "frames_1k", "--model", "openai:x", "--dry-run", *methods).output
    assert "multistep@3x5x2+plan: up to 6 prompts per question" in printed
    assert "\n8 unique prompts" in printed
    half = icr2(
        "run", folder, "--config", "frames_1k", "--model", "openai:x", "--dry-run", *methods, "--shard", "1/2"
    ).output
    assert "\n4 unique prompts" in half


def test_the_papers_methods_are_a_preset(folder: Path) -> None:
    printed = icr2("run", folder, "--config", "frames_1k", "--model", "openai:x", "--dry-run", "--paper").output
    assert "multistep@5x5x10+plan: up to 10 prompts per question" in printed


def test_what_a_judge_would_be_asked(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "run")
    printed = icr2("judge", tmp_path / "run", "--model", "openai:x", "--dry-run").output
    assert "unique prompts" in printed and "input tokens" in printed
    prices = ("--price-in", 0, "--price-out", 500_000)  # half a coin for each of the 16 tokens of a verdict
    priced = icr2("judge", tmp_path / "run", "--model", "openai:x", "--dry-run", *prices).output
    n = int(printed.split(" unique prompts")[0].split()[-1])
    assert n > 1 and f"at most {16 * n} output tokens, at most {8 * n}.00 at these prices" in priced


def test_folders_that_are_no_run_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="give a run folder of icr2 frames"):
        icr2("judge", folder, "--model", "wise")
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\nq1,1\n")
    with pytest.raises(SetupError, match="give a run folder of icr2 frames"):
        icr2("agree", labels, "--run", folder)


def test_what_multistep_methods_are_is_in_the_record(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["methods"] == ["closed_book", "oracle_rag", "multistep@2x2x1"]
    assert record["multistep"] == {
        "multistep@2x2x1": {"rounds": 2, "queries": 2, "articles": 1, "style": "vanilla"},
    }


def test_runs_of_earlier_versions_are_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(folder, out)
    record = json.loads((out / "run.json").read_text())
    del record["multistep"]
    (out / "run.json").write_text(json.dumps(record | {"methods": ["naive", "oracle", "multistep@2x2x1"]}))
    for command in (("judge", out, "--model", "wise"), ("agree", tmp_path / "labels.csv", "--run", out)):
        with pytest.raises(SetupError, match=r"an earlier version.*; rerun icr2 frames run with another --out"):
            icr2(*command)
