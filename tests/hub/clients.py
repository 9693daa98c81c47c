"""The real clients, led to the Hub on loopback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOKEN = "hf_" + "loopbackWriterSecret" * 2
READER = "hf_" + "loopbackReaderSecret" * 2
TOKENS = {TOKEN: "write", READER: "read"}


def lead_to(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes huggingface_hub in this process talk to a server, whatever it was imported with."""
    from huggingface_hub import constants

    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    values = {
        "ENDPOINT": url,
        "HUGGINGFACE_CO_URL_TEMPLATE": template,
        "HF_HUB_OFFLINE": False,
        "HF_HUB_DISABLE_XET": True,
        "HF_HUB_CACHE": str(cache),
    }
    for name, value in values.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)


def environment(url: str, home: Path, **more: str) -> dict[str, str]:
    """The environment of a separate process, with an empty cache."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    own = {"HF_ENDPOINT": url, "HF_HOME": str(home), "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    return {**kept, "PYTHONPATH": str(ROOT), **own, **more}


def python(code: str, env: dict[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a separate process."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
