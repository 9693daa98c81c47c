import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import yaml
from huggingface_hub import HfApi
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands.tasks import register
from eval_harness.lm_eval.hooks import VERSION, documents
from tests.hub.clients import TOKEN, TOKENS, lead_to
from tests.hub.server import LoopbackHub, loopback_hub

RUNNER = CliRunner()
REPO = "me/icr2"


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app


@pytest.fixture
def hub(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """A Hub on loopback that holds the tiny dataset as `v1.0.0`."""
    with loopback_hub(TOKENS) as server:
        lead_to(server.url, tmp_path / "cache", monkeypatch)
        api = HfApi(endpoint=server.url, token=TOKEN)
        api.create_repo(REPO, repo_type="dataset")
        api.upload_folder(repo_id=REPO, folder_path=tiny, repo_type="dataset")
        api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
        yield server


def run(app: typer.Typer, *arguments: object) -> str:
    return RUNNER.invoke(app, [str(argument) for argument in arguments], catch_exceptions=False).stdout


def metadata(folder: Path) -> dict[str, str]:
    text = (folder / "_base.yaml").read_text().replace("!function ", "")
    return yaml.safe_load(text)["metadata"]


def test_without_arguments_it_prints_the_folder_of_the_demo_and_nothing_else(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICR2_CACHE", str(tmp_path))
    folder = run(app).removesuffix("\n")
    assert (Path(folder) / "icr2_1k_p75.yaml").is_file()
    assert tmp_path in Path(folder).parents


def test_a_folder_is_named_by_its_absolute_path(
    app: typer.Typer, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """lm-eval may run in any folder"""
    monkeypatch.chdir(tmp_path)
    assert "files for 4 configs to out" in run(app, "tiny", "--write", "out")
    assert metadata(tmp_path / "out") == {"version": VERSION, "dataset": str(tiny)}
    run(app, "tiny", "--write", "named", "--path", "../tiny")
    assert metadata(tmp_path / "named")["dataset"] == "../tiny"


def test_a_repository_of_the_hub_at_a_tag_or_at_its_newest_commit(
    app: typer.Typer, hub: LoopbackHub, tmp_path: Path
) -> None:
    run(app, REPO, "--revision", "v1.0.0", "--write", tmp_path / "tagged")
    assert metadata(tmp_path / "tagged") == {"version": VERSION, "dataset": REPO, "dataset_revision": "v1.0.0"}
    run(app, REPO, "--write", tmp_path / "newest")
    newest = HfApi(endpoint=hub.url).dataset_info(REPO).sha
    assert metadata(tmp_path / "newest")["dataset_revision"] == newest


def test_documents_of_a_repository_need_one_split_of_one_config_and_later_no_network(
    hub: LoopbackHub, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subset = {"config": "1k_p75", "task": "nq", "method": "vanilla_rag"}
    found = documents(subset, REPO, VERSION, "v1.0.0")["test"]
    assert list(found) == list(documents(subset, str(tiny), VERSION)["test"])
    assert {path.name for path in (tmp_path / "cache").rglob("*.parquet")} == {"test-00000-of-00001.parquet"}
    assert len(list((tmp_path / "cache").rglob("snapshots/*/*/*.parquet"))) == 1
    shutil.rmtree(tiny)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    before = len(hub.requests)
    assert len(documents(subset, REPO, VERSION, "v1.0.0")["test"]) == 3
    assert len(hub.requests) == before


def test_mistakes_are_said_in_one_line(app: typer.Typer, tiny: Path, hub: LoopbackHub) -> None:
    with pytest.raises(SetupError, match="give both a dataset and a folder"):
        run(app, tiny)
    with pytest.raises(SetupError, match="is a local folder, which has no revisions"):
        run(app, tiny, "--revision", "v1", "--write", "out")
    with pytest.raises(SetupError, match="dataset 'me/none' is not a folder, and the Hub did not serve it"):
        run(app, "me/none", "--write", "out")
