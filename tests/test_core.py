"""What the core does without any extra: in a process where their packages cannot be imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders.extras import EXTRAS, install
from tests.builders.tiny import write_tiny_kilt
from tests.imports import ROOT

# Packages of the core need these.
INSTALLED = {"filelock", "httpx2", "xxhash"}
WITHOUT = sorted({module for modules in EXTRAS.values() for module in modules} - INSTALLED)
HIDE = f"""
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name in {WITHOUT} else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("core")
    recipe = write_tiny_kilt(folder / "kilt")
    command = [sys.executable, "-m", "icr2_cli", "build", str(recipe), "--out", str(folder / "icr2"), "--limit", "3"]
    subprocess.run([*command, "--set", "lengths=[1k]", "--set", "loft=[]"], check=True, cwd=ROOT)
    return folder / "icr2"


def icr2(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the command without the packages of extras."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-c", f"{HIDE}import icr2_cli; icr2_cli.main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_help_and_doctor() -> None:
    done = icr2("--help")
    assert (done.returncode, done.stderr) == (0, "")
    done = icr2("doctor")
    assert done.returncode == 0, done.stderr
    for extra in EXTRAS:
        assert install(extra) in done.stdout


def test_a_dataset_is_shown_queried_and_validated(dataset: Path) -> None:
    done = icr2("sql", dataset, "SELECT min(id) AS id, count(*) AS n FROM \"1k_p50\" WHERE task = 'nq'", "--csv")
    names, (id, n) = (line.split(",") for line in done.stdout.splitlines())
    assert (names, n) == (["id", "n"], "9"), done.stderr
    done = icr2("show", dataset, "1k_p50", id)
    assert done.returncode == 0, done.stderr
    assert f"nq number {int(id.removeprefix('nq-'))}?" in done.stdout
    done = icr2("validate", dataset, "--html", dataset.with_name("html"))
    assert "error:" not in done.stderr
    assert done.returncode in (0, 1)  # what is found is no matter here
    assert (dataset / "validation.json").is_file() and (dataset.with_name("html") / "index.html").is_file()


def test_a_dataset_is_loaded(dataset: Path, tmp_path: Path) -> None:
    load = f"from datasets import load_dataset; print(len(load_dataset({str(dataset)!r}, '1k_p50')['test']))"
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    assert subprocess.check_output([sys.executable, "-c", HIDE + load], text=True, env=environment) == "9\n"


MODEL = ["--config", "1k_p50", "--model", "smollm2", "--out", "OUT"]


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["build", "demo", "--out", "OUT"], "build"),
        (["figure", "DIR", "OUT.png", "--length", "1k"], "build"),
        (["card", "DIR"], "build"),
        (
            ["eval", "DIR", "--config", "1k_p50", "--model", "smollm2", "--method", "closed_book", "--out", "OUT"],
            "eval",
        ),
        (
            ["train", "sft", "DIR", "--config", "1k_p50", "--model", "smollm2", "--variant", "da", "--out", "OUT"],
            "train",
        ),
    ],
)
def test_what_needs_an_extra_says_so_in_one_line(
    arguments: list[str], extra: str, dataset: Path, tmp_path: Path
) -> None:
    done = icr2(*(one.replace("DIR", str(dataset)).replace("OUT", str(tmp_path / "out")) for one in arguments))
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert install(extra) in line
    assert "Traceback" not in done.stderr
