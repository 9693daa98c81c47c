"""`icr2 validate`: its exit codes, its report, and what it refuses."""

import json
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from builders.errors import SetupError
from icr2_cli import app
from tests.planted.folder import Folder
from validation.checks import CHECKS

CONFIG = "2k_p50"


@pytest.fixture
def dataset(good: Path, tmp_path: Path) -> Path:
    """A copy of the good dataset."""
    return shutil.copytree(good, tmp_path / "icr2")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def validate(*arguments: str | Path) -> Done:
    """The command, in this process, since the libraries that it loads take seconds."""
    result = CliRunner().invoke(app, ["validate", *map(str, arguments)])
    if isinstance(result.exception, SetupError):
        return Done(2, result.stdout, str(result.exception))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def report(folder: Path) -> dict:
    return json.loads((folder / "validation.json").read_text(encoding="utf-8"))


def edit_by_hand(folder: Path) -> None:
    """Changes a score in one file, as someone with a Parquet editor would."""
    file = Folder(folder).file(CONFIG, "test")
    table = pq.read_table(file)
    pq.write_table(table.slice(0, table.num_rows), file, compression="none")


def test_a_good_dataset_passes(dataset: Path) -> None:
    done = validate(dataset, "--html", dataset.with_name("page"), "--fail-on", "warning")
    assert done.returncode == 0, done.stderr
    found = report(dataset)
    assert found["manifest_sha256"] == sha256((dataset / "manifest.json").read_bytes()).hexdigest()
    assert (found["passed"], found["complete"]) == (True, True)
    assert [check["name"] for check in found["checks"]] == list(CHECKS)
    lines = [line.split("│") for line in done.stdout.splitlines() if line.startswith("│")]
    assert [line[1].strip() for line in lines] == list(CHECKS), "one line a check"
    assert {line[2].strip() for line in lines} == {"passed"}
    first = (dataset / "validation.json").read_bytes()
    assert validate(dataset).returncode == 0
    assert (dataset / "validation.json").read_bytes() == first, "the report of the same dataset has other bytes"
    page = (dataset.with_name("page") / "index.html").read_text(encoding="utf-8")
    assert all(name in page for name in CHECKS)
    assert "Passed" in page
    assert "http" not in page, "the page loads something"


def test_a_file_edited_by_hand_fails_on_its_digest(dataset: Path) -> None:
    edit_by_hand(dataset)
    done = validate(dataset, "--html", dataset.with_name("page"))
    assert done.returncode == 1
    failed = {check["name"] for check in report(dataset)["checks"] if check["status"] == "failed"}
    assert failed == {"manifest"}
    assert f"{CONFIG}/test-00000-of-00001.parquet" in done.stdout
    assert 'id="manifest"' in (dataset.with_name("page") / "index.html").read_text(encoding="utf-8")


def test_the_command_itself_ends_with_1(dataset: Path) -> None:
    edit_by_hand(dataset)
    command = [sys.executable, "-m", "icr2_cli", "validate", str(dataset), "--only", "manifest"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "failed: manifest" in done.stdout


def test_without_the_manifest_check_the_content_stands_alone(dataset: Path) -> None:
    edit_by_hand(dataset)
    assert validate(dataset, "--skip", "manifest").returncode == 0
    assert (report(dataset)["passed"], report(dataset)["complete"]) == (True, False)


def test_part_of_a_dataset_is_not_complete(dataset: Path) -> None:
    assert validate(dataset, "--config", CONFIG).returncode == 0
    assert report(dataset)["complete"] is False
    done = validate(dataset, "--only", "ids", "--only", "gold")
    assert done.returncode == 0
    ran = [check["name"] for check in report(dataset)["checks"] if check["status"] != "skipped"]
    assert ran == ["ids", "gold"]
    assert "cannot be published" in done.stdout


def test_a_warning_fails_only_when_asked(dataset: Path) -> None:
    folder = Folder(dataset)
    target = next(row for row in folder.rows(CONFIG, "test") if row["task"] == "nq")["id"]

    def change(config: str, row: dict) -> None:
        if row["id"] == target:
            row["answers"] = ["nowhere to be found"]

    folder.change_all(change)
    done = validate(dataset, "--only", "answer_in_gold")
    assert done.returncode == 0
    assert done.stdout.count(target) == 1, "one instance is told once, in however many configs it is found"
    assert validate(dataset, "--only", "answer_in_gold", "--fail-on", "warning").returncode == 1


def test_memory_that_does_not_suffice_is_one_line(dataset: Path) -> None:
    done = validate(dataset, "--memory", "2MB")
    assert done.returncode == 2
    assert " needs more than 2MB of memory; give it more, such as --memory 4GB" in done.stderr
    assert validate(dataset, "--memory", "much").returncode == 2


def test_an_empty_dataset_fails(dataset: Path) -> None:
    folder = Folder(dataset)
    for config in folder.configs:
        shutil.rmtree(dataset / config)
    folder.manifest["configs"] = {}
    folder.save_manifest()
    done = validate(dataset)
    assert done.returncode == 2 and "configs: found {}" in done.stderr


def test_what_is_no_dataset_is_refused(tmp_path: Path, dataset: Path) -> None:
    for arguments, words in {
        (tmp_path / "nothing",): "no manifest.json",
        (dataset, "--only", "spelling"): "no check spelling",
        (dataset, "--config", "9k_p0"): "no config 9k_p0",
        (dataset, "--fail-on", "anything"): "invalid --fail-on",
    }.items():
        done = validate(*arguments)
        assert done.returncode == 2, arguments
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    (dataset / "manifest.json").write_text('{"format": "icr2-manifest/1"}')
    done = validate(dataset)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    assert not (dataset / "validation.json").exists()


def test_a_path_out_of_the_folder_is_refused(dataset: Path) -> None:
    folder = Folder(dataset)
    folder.files(CONFIG)["test"][0]["path"] = "../secret.parquet"
    folder.save_manifest()
    done = validate(dataset)
    assert done.returncode == 2
    assert "leads out of the folder" in done.stderr


def test_every_check_is_listed(dataset: Path) -> None:
    done = validate(dataset, "--list")
    assert done.returncode == 0
    assert [line.split(" ")[0] for line in done.stdout.splitlines()] == list(CHECKS)


def test_the_readme_counts_the_checks() -> None:
    root = Path(__file__).parents[2]
    for page in ("README.md", "CHANGELOG.md"):
        assert f"{len(CHECKS)} checks" in (root / page).read_text(encoding="utf-8"), page
