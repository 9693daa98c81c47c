"""Publishing by the command in a process of its own: what a reader then loads, kills in the middle, and the token."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dataset_cards.ready import manifest_of, only
from tests.hub.clients import READER, TOKEN, environment, python
from tests.hub.server import LoopbackHub

REPO = "me/icr2"
COMMAND = """
import icr2_cli
from dataset_cards.publish_cli import register
register(icr2_cli.app)
icr2_cli.main()
"""
DEBUG = "import logging, os; logging.basicConfig(level=logging.DEBUG, filename=os.environ['LOG'])\n"
LOAD = """
import sys
import pyarrow.parquet as pq
from datasets import load_dataset

folder, revision, *configs = sys.argv[1:]
for config in configs:
    loaded = load_dataset("me/icr2", config, revision=revision)
    for split, rows in loaded.items():
        written = pq.read_table(f"{folder}/{config}/{split}-00000-of-00001.parquet").to_pylist()
        assert rows.to_list() == written and written, (config, split)
    print(config, *sorted(loaded))
"""


def publish(folder: Path, hub: LoopbackHub, home: Path, *options: str, code: str = COMMAND, **variables: str) -> str:
    done = python(code, environment(hub.url, home, **variables), "publish", folder, "--repo", REPO, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def load(folder: Path, hub: LoopbackHub, home: Path, revision: str, *configs: str) -> list[str]:
    done = python(LOAD, environment(hub.url, home), folder, revision, *configs)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_every_config_loads_from_an_empty_cache(built: Path, hub: LoopbackHub, tmp_path: Path) -> None:
    said = publish(built, hub, tmp_path / "home")
    head = hub.state.repos[REPO].head
    assert said.splitlines() == [
        f"commit {hub.url}/datasets/{REPO}/commit/{head}",
        f"tag v1.0.0 {hub.url}/datasets/{REPO}/tree/v1.0.0",
        'load_dataset("me/icr2", "1k_p0", revision="v1.0.0")',
    ]
    assert "nothing to do" in publish(built, hub, tmp_path / "home")
    configs = list(manifest_of(built)["configs"])
    assert "2k_p75" in configs
    loaded = load(built, hub, tmp_path / "reader", "v1.0.0", *configs)
    assert loaded == [f"{config} test train validation" for config in configs]
    fetched = {request.path for request in hub.requests if request.method == "GET" and "/resolve/" in request.path}
    assert len([path for path in fetched if path.endswith(".parquet")]) == 27


def test_both_builds_load(built: Path, dataset: Path, hub: LoopbackHub, tmp_path: Path) -> None:
    """Other configs stay."""
    first, second = ["1k_p0", "2k_p75"], ["1k_p50", "loft_2k"]
    publish(only(dataset, first), hub, tmp_path / "home")
    dataset.rename(tmp_path / "first")
    again = shutil.copytree(built, tmp_path / "icr2")
    publish(only(again, second, version="1.1.0"), hub, tmp_path / "home")
    assert len(load(built, hub, tmp_path / "reader", "v1.1.0", *first, *second)) == 4
    assert len(load(built, hub, tmp_path / "reader", "v1.0.0", *first)) == 2


@pytest.mark.parametrize(("at", "skip"), [("PUT /large", 7), ("POST .*/commit/", 0), ("POST .*/tag/", 0)])
def test_killed_in_the_middle(at: str, skip: int, built: Path, hub: LoopbackHub, tmp_path: Path) -> None:
    """No tag before everything is there, and nothing is sent twice."""
    command = [sys.executable, "-c", COMMAND, "publish", str(built), "--repo", REPO]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes: list[subprocess.Popen[bytes]] = []
    seen: list[dict[str, str]] = []

    def kill() -> None:
        seen.append(dict(hub.state.repos[REPO].tags))
        os.kill(processes[0].pid, signal.SIGKILL)
        processes[0].wait()

    hub.fault(at, skip=skip, hook=kill, drop="request")
    processes.append(subprocess.Popen(command, env=environment(hub.url, tmp_path / "home"), **pipes))
    processes[0].communicate(timeout=60)
    assert processes[0].returncode == -signal.SIGKILL
    repo = hub.state.repos[REPO]
    assert seen == [{}]
    assert repo.tags == {}
    assert ("README.md" in repo.at("main").files) == (at == "POST .*/tag/")
    sent = {request.path for request in hub.requests if request.method == "PUT"}
    kept = {f"/large/{oid}" for oid in hub.state.large}
    assert kept and kept <= sent
    asked = len(hub.requests)
    publish(built, hub, tmp_path / "home")
    again = {request.path for request in hub.requests[asked:] if request.method == "PUT"}
    assert not again & kept
    assert len(again | kept) == 27
    assert repo.tags == {"v1.0.0": repo.head}
    assert len(repo.commits) == 2


@pytest.mark.parametrize("token", [TOKEN, READER], ids=["may write", "may only read"])
def test_the_token_is_nowhere(token: str, dataset: Path, hub: LoopbackHub, tmp_path: Path) -> None:
    """Not in the output, the debug log, the folder, the cache or the home folder."""
    for line in ("PUT /large", "POST .*/commit/", "GET .*/refs"):
        hub.fault(line, status=500)
    log, home = tmp_path / "log.txt", tmp_path / "home"
    variables = {"HF_DEBUG": "1", "LOG": str(log), "HF_TOKEN": token, "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    env = environment(hub.url, home, **variables)
    done = python(DEBUG + COMMAND, env, "publish", dataset, "--repo", REPO)
    assert done.returncode == (0 if token == TOKEN else 2)
    assert "curl" in done.stderr + log.read_text()
    assert "/api/repos/create" in log.read_text()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".parquet", ".json", ".md", ".txt"}
    assert not [path for path in files if token.encode() in path.read_bytes()]
    assert token not in done.stdout + done.stderr
