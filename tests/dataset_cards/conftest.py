"""A tiny dataset, built once, and a Hub on loopback that the clients of a test talk to."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from builders.load_recipe import load_recipe
from builders.pipeline import run_build
from tests.builders.tiny import write_tiny_kilt
from tests.dataset_cards.ready import make_ready
from tests.hub.clients import TOKENS, lead_to
from tests.hub.server import LoopbackHub, loopback_hub


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny dataset that is ready to be published; not to be changed."""
    folder = tmp_path_factory.mktemp("built")
    recipe, base = load_recipe(str(write_tiny_kilt(folder / "kilt")), [])
    run_build(recipe, base, folder / "icr2", folder / "work", 1, Console(quiet=True))
    return make_ready(folder / "icr2")


@pytest.fixture
def dataset(built: Path, tmp_path: Path) -> Path:
    """A copy of the tiny dataset."""
    return shutil.copytree(built, tmp_path / "icr2")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """A Hub on loopback; nothing in this process waits between tries."""
    with loopback_hub(TOKENS) as server:
        lead_to(server.url, tmp_path / "cache", monkeypatch)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        yield server
