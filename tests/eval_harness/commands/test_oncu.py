import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands import oncu as cli
from eval_harness.models.fake import FakeModel
from eval_harness.run.results import read_rows
from tests.eval_harness.conftest import write_config
from tests.eval_harness.protocols.oncu.test_argument import System, questions
from tests.manifests import write_manifest_2

RUNNER = CliRunner()
FILES = {"oncu.csv", "scores.csv", "validity.csv", "modes.csv", "report.md", "report.html"}


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    cli.register(app)
    app.command("other")(lambda: None)  # with one command alone, its name would be left out
    return app


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two lengths of the eight questions, their gold at two depths."""
    folder = tmp_path / "data"
    for config in ("controlled_1k", "controlled_2k"):
        write_config(folder, config, [row | {"flags": [f"depth_{n % 2 * 50}"]} for n, row in enumerate(questions())])
    write_manifest_2(folder)
    return folder


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The prompts of a model that finds the first half of the questions in the full context."""
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return System(from_many=range(4))(prompt)

    monkeypatch.setattr(cli, "ready", lambda *_, **__: FakeModel(answer))
    return prompts


@pytest.fixture
def call(app: typer.Typer) -> Callable[..., str]:
    def call(*arguments: object) -> str:
        result = RUNNER.invoke(app, ["oncu", *map(str, arguments)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def test_from_a_dataset_to_a_report_and_back(
    call: Callable[..., str], dataset: Path, asked: list[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    arguments = (dataset, "--config", "controlled_1k", "--config", "controlled_2k", "--model", "m", "--k", 2)
    said = call(*arguments, "--out", run, "--audit", 3)
    for words in ("What contexts recover", "Denominator validity", "Length against position", "Failure modes"):
        assert words in said
    assert len(read_rows(run)) == 2 * 8 * 4
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["protocol"] == "oncu"
    assert recorded["methods"] == ["closed_book+cite", "vanilla_rag+cite", "retrieved_bm25@2+cite", "oracle_rag+cite"]
    assert {path.name for path in (run / "report").iterdir()} == FILES | {"positions.png"}
    page = (run / "report" / "report.md").read_text()
    assert "![Length against position" in page
    n = len(asked)
    assert call(*arguments, "--out", run).startswith(said[:200])  # resumed: nothing is asked again
    assert len(asked) == n
    assert len(list(csv.DictReader((run / "audit.csv").open(newline="")))) == 3


def test_runs_are_looked_at_by_other_groups_without_a_model(
    call: Callable[..., str], dataset: Path, asked: list[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    call(dataset, "--config", "controlled_1k", "--model", "m", "--k", 2, "--out", run)
    asked.clear()
    assert "depth_50" in call(run, "--group-by", "depth", "--dataset", dataset)
    assert "depth_50" in call(run)  # as it was looked at last
    assert "all tasks" in call(run, "--group-by", "model")
    assert asked == []
    other = tmp_path / "other"
    shutil.copytree(run, other)
    with pytest.raises(SetupError, match="2 runs are reported together; give a folder for the report with --out"):
        call(run, other)
    call(run, other, "--out", tmp_path / "both")
    assert {path.name for path in (tmp_path / "both" / "report").iterdir()} >= FILES
    with pytest.raises(SetupError, match="--audit needs the dataset"):
        call(run, "--audit", 3)
    with pytest.raises(SetupError, match="grouping by hops needs the dataset"):
        call(run, "--group-by", "hops")


def test_labels_by_hand_give_agreement(
    call: Callable[..., str], dataset: Path, asked: list[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    call(dataset, "--config", "controlled_1k", "--model", "m", "--k", 2, "--out", run, "--audit", 8)
    lines = list(csv.DictReader((run / "audit.csv").open(newline="")))
    for line in lines:
        line["mode under vanilla_rag+cite"] = "recovered" if line["id"] < "nq-4" else "localisation"
    filled = tmp_path / "filled.csv"
    with filled.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    said = call(run, "--labels", filled)
    # ours: four recovered, and four that cite the gold without answering; chance: 4 * 4 of 64
    assert "Agreement with human labels" in said
    line = next(_bare(line) for line in said.split("\n") if "0.33" in line)
    assert line.split("│")[4:7] == ["8", "50.0", "0.33"]
    assert "by_hand" in (run / "report" / "modes.csv").read_text()
    bad = tmp_path / "bad.csv"
    bad.write_text(filled.read_text().replace("localisation", "lazy"))
    with pytest.raises(SetupError, match="no mode 'lazy'"):
        call(run, "--labels", bad)
    assert "Agreement" in call(run)  # what was there before is not lost


def test_several_retrievers_and_a_dry_run(call: Callable[..., str], dataset: Path, tmp_path: Path) -> None:
    found = cli.conditions(["bm25", "hybrid"], 16)
    assert found[2:4] == ("retrieved_bm25@16+cite", "retrieved_hybrid@16+cite")
    arguments = (dataset, "--config", "controlled_1k", "--model", "smollm2", "--dry-run", "--out", tmp_path / "run")
    said = call(*arguments, "--retriever", "bm25", "--limit", 2)
    assert "retrieved_bm25" in said
    assert "6 unique prompts" in said  # six passages: the 16 best are the full context
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_run_says_so(call: Callable[..., str], dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="give one dataset, --config and --model"):
        call(dataset, "--config", "controlled_1k")
    with pytest.raises(SetupError, match="is not a dataset; to report runs, leave out --config and --model"):
        call(tmp_path, "--model", "m")
    with pytest.raises(SetupError, match=r"has no run\.json"):
        call(tmp_path)
    with pytest.raises(SetupError, match="no retriever dpr; available: bm25, dense, hybrid"):
        call(dataset, "--config", "controlled_1k", "--model", "m", "--retriever", "dpr")
    with pytest.raises(SetupError, match="no config '9k' in data; there are controlled_1k, controlled_2k"):
        call(dataset, "--config", "9k", "--model", "m")


def _bare(line: str) -> str:
    return "".join(line.split())
