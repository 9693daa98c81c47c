from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands.report import register
from tests.eval_harness.report.conftest import make_row, write_dataset, write_hostile_run, write_run

RUNNER = CliRunner()


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app


def invoke(app: typer.Typer, *arguments: str | Path) -> str:
    result = RUNNER.invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_report_leaves_every_format(app: typer.Typer, tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "data")
    run, out = write_hostile_run(tmp_path / "run", dataset), tmp_path / "out"
    text = invoke(app, "report", run, "--dataset", dataset, "--out", out)
    assert "macro average" in text
    assert {path.name for path in out.iterdir()} == {
        "report.md",
        "table3.csv",
        "differences.csv",
        "figure1.png",
        "report.html",
    }
    assert "![Figure 1" in (out / "report.md").read_text()
    invoke(app, "report", run, "--out", tmp_path / "one", "--format", "md")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["report.md"]
    assert "![Figure 1" not in (tmp_path / "one" / "report.md").read_text()


def test_a_page_without_a_dataset_says_what_it_lacks(app: typer.Typer, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [make_row("nq-1")])
    invoke(app, "report", run, "--out", tmp_path / "out", "--format", "html")
    assert "written without --dataset" in (tmp_path / "out" / "report.html").read_text()


def test_datasets_are_reported_apart(app: typer.Typer, tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", [make_row("nq-1")])
    other = {"name": "data", "version": "1.0.0", "manifest_sha256": "e" * 64}
    second = write_run(tmp_path / "b", [make_row("nq-1")], dataset=other)
    arguments = ["report", first, second, "--out", tmp_path / "out", "--format", "csv"]
    with pytest.raises(SetupError, match="of 2 datasets"):
        invoke(app, *arguments)
    invoke(app, *arguments, "--apart")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"data-1.0.0-dddddddd", "data-1.0.0-eeeeeeee"}


def test_mistakes_are_named(app: typer.Typer, tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "data")
    run = write_run(tmp_path / "run", [make_row("nq-1")])
    with pytest.raises(SetupError, match="no format pdf; available: md, csv, html, png"):
        invoke(app, "report", run, "--format", "pdf")
    with pytest.raises(SetupError, match=r"and the runs are on data 1\.0\.0 \(dddddddddddd\)"):
        invoke(app, "report", run, "--dataset", dataset, "--out", tmp_path / "out")
    with pytest.raises(SetupError, match="no config 9k in"):
        invoke(app, "view", dataset, "--config", "9k")
    with pytest.raises(SetupError, match=r"no rows in split 'train'.*available splits: test"):
        invoke(app, "view", dataset, "--split", "train")
    assert not (tmp_path / "out").exists()


def test_a_view_shows_a_dataset_without_runs(app: typer.Typer, tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "data")
    out = tmp_path / "pages" / "view.html"
    assert invoke(app, "view", dataset, "--config", "1k_p0", "--out", out) == f"wrote {out}\n"
    assert "<h1>data 1.0.0</h1>" in out.read_text()
