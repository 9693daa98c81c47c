"""`icr2 eval` against a real server, `transformers serve`: prompts, outputs and scores of the same model run here."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.models.local import find_checkpoint
from eval_harness.run.results import Row, read_rows
from icr2_cli import app
from tests.eval_harness.conftest import instance

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
NEW_TOKENS = 8
STARTS_S = 240  # on a busy machine
FACTS = {
    "Peru": "Lima",
    "Norway": "Oslo",
    "Kenya": "Nairobi",
    "Japan": "Tokyo",
    "Cuba": "Havana",
    "Egypt": "Cairo",
    "Chile": "Santiago",
    "Latvia": "Riga",
    "Ghana": "Accra",
    "Nepal": "Kathmandu",
}
ROWS = [
    instance(f"nq-{at}", "nq", f"What is the capital of {land}?", [city], [0], [f"The capital of {land} is {city}."])
    for at, (land, city) in enumerate(FACTS.items())
]


@pytest.fixture(scope="module")
def model() -> str:
    try:
        return str(find_checkpoint("smollm2").folder)
    except SetupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def address(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server, which ends with the tests of this file."""
    if not (find_spec("fastapi") and find_spec("uvicorn")):
        pytest.skip("transformers serve needs fastapi and uvicorn")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "transformers"), "serve", model, "--device", "cpu"]
    command += ["--dtype", "float32", "--host", "127.0.0.1", "--port", str(port)]
    with (tmp_path_factory.mktemp("server") / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        try:
            _wait(process, f"http://127.0.0.1:{port}/health", Path(log.name))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    end = time.monotonic() + STARTS_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"the server did not start: {log.read_text()[-2000:]}")


def answered(dataset: Path, out: Path, *options: str) -> dict[tuple[str, str], Row]:
    """The results of two methods on all instances."""
    methods = ("--method", "closed_book", "--method", "oracle_rag")
    command = ["eval", str(dataset), "--config", "1k_p0", *methods, "--max-new-tokens", str(NEW_TOKENS), *options]
    done = CliRunner().invoke(app, [*command, "--out", str(out)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return {(row.id, row.method): row for row in read_rows(out)}


def test_prompts_and_scores_are_those_of_the_model_run_here(
    make_dataset: Callable[..., Path], tmp_path: Path, model: str, address: str
) -> None:
    """float32, ten instances; what the server says of itself is in the record."""
    dataset = make_dataset(c1k_p0=ROWS)
    here = answered(dataset, tmp_path / "here", "--model", model, "--dtype", "float32", "--batch-size", "1")
    there = answered(
        dataset,
        tmp_path / "there",
        "--model",
        f"openai:{model}",
        "--base-url",
        address,
        "--tokenizer",
        model,
        "--concurrency",
        "1",
    )
    assert len(here) == 20 and here.keys() == there.keys()
    for key, row in here.items():
        other = there[key]
        assert (other.prompt_sha256, other.output, other.scores) == (row.prompt_sha256, row.output, row.scores), key
        assert other.n_prompt_tokens == row.n_prompt_tokens, key  # the server's count
        # it counts the stop token, and calls an output cut whose stop token is the last that fits
        ended = (row.n_new_tokens or 0) + (not row.truncated)
        assert (other.n_new_tokens, other.truncated) == (ended, ended == NEW_TOKENS), key
    assert sum(row.scores["subspan_em"] for (_, method), row in here.items() if method == "oracle_rag") >= 8
