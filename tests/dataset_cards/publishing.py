"""Publishing from within a test, and the resulting repository on loopback."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import HfApi
from rich.console import Console

from dataset_cards.hub import Repository
from dataset_cards.publish import Published
from dataset_cards.publish import publish as publish_release
from dataset_cards.release import checked_release
from tests.dataset_cards.cards import join_card
from tests.hub.clients import TOKEN
from tests.hub.server import LoopbackHub
from tests.hub.state import Repo

REPO = "me/icr2"
ROWS = pa.table({"text": ["".join(random.Random(n).choices("abcdefgh", k=4000)) for n in range(100)]})


def repository(hub: LoopbackHub, token: str = TOKEN) -> Repository:
    return Repository(HfApi(endpoint=hub.url, token=token), REPO)


def publish(folder: Path, hub: LoopbackHub, private: bool = False, token: str = TOKEN) -> Published:
    return publish_release(checked_release(folder, None, Console(quiet=True)), repository(hub, token), private)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def on_hub(repo: Repo, revision: str = "main") -> dict[str, bytes]:
    files = repo.at(revision).files
    return {path: file.content for path, file in files.items() if path != ".gitattributes"}


def parquet(schema: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(schema, sink, compression="none")
    return sink.getvalue().to_pybytes()


def with_config(hub: LoopbackHub, name: str, path: str, content: bytes) -> Repo:
    """A repository in which someone else keeps one config."""
    repo = hub.state.create(REPO, private=False)
    repo.write(path, content)
    entry = {"config_name": name, "data_files": [{"split": "test", "path": [path]}]}
    repo.write("README.md", join_card({"configs": [entry]}, "# theirs\n").encode())
    return repo


def writes(hub: LoopbackHub) -> list[str]:
    """The requests that change something or begin to."""
    lines = [f"{request.method} {request.path}" for request in hub.requests]
    reading = ("/paths-info/", "/api/repos/create")
    return [
        line for line in lines if not line.startswith(("GET", "HEAD")) and not any(part in line for part in reading)
    ]
