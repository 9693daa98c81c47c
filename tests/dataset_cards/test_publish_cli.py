"""The options of `icr2 publish`: refusals in one line, and the output of a dry run."""

from pathlib import Path

import pytest
import typer
from click.testing import Result
from huggingface_hub import constants
from typer.testing import CliRunner

from builders.errors import SetupError
from dataset_cards.publish_cli import register
from tests.hub.server import LoopbackHub

app = typer.Typer()
register(app)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("repo", "says"),
    [
        ("icr2", "include the owner, such as me/icr2"),
        ("me/icr--2", "Cannot have -- or .."),
        ("datasets/me/icr2", "must be in the form"),
        ("me/icr 2", "must use alphanumeric chars"),
    ],
)
def test_names_of_repositories(repo: str, says: str, built: Path) -> None:
    error = run("publish", built, "--repo", repo, "--dry-run").exception
    assert isinstance(error, SetupError)
    assert says in str(error)
    assert "\n" not in str(error)


def test_without_a_token(built: Path, hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no_token"))
    error = run("publish", built, "--repo", "me/icr2", "--endpoint", hub.url).exception
    assert isinstance(error, SetupError)
    assert "no token to publish with; set HF_TOKEN" in str(error)
    assert hub.requests == []


def test_another_version(built: Path, hub: LoopbackHub) -> None:
    error = run("publish", built, "--repo", "me/icr2", "--version", "2.0.0", "--endpoint", hub.url).exception
    assert isinstance(error, SetupError)
    assert "set the version in the recipe" in str(error)
    assert hub.requests == []


def test_a_dry_run_without_network(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    done = run("publish", built, "--repo", "me/icr2", "--dry-run")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "tiny 1.0.0 can be published: validated, 31 files checked"
    assert lines[1].startswith("the Hub was not reached: ")
    size = (built / "2k_p75/test-00000-of-00001.parquet").stat().st_size
    assert f"send 2k_p75/test-00000-of-00001.parquet {size:,} bytes" in lines
    total = sum(path.stat().st_size for path in built.rglob("*") if path.is_file())
    assert lines[-2:] == [f"one commit: 31 files, {total:,} bytes", "tag v1.0.0; nothing was changed"]


def test_publish_then_a_dry_run(built: Path, hub: LoopbackHub) -> None:
    assert run("publish", built, "--repo", "me/icr2", "--private", "--endpoint", hub.url).exit_code == 0
    assert hub.state.repos["me/icr2"].private
    lines = run("publish", built, "--repo", "me/icr2", "--dry-run", "--endpoint", hub.url).stdout.splitlines()
    assert lines[1:] == ["me/icr2 already has v1.0.0 with these bytes", "tag v1.0.0; nothing was changed"]
