"""Shared fixtures: the folder of real inputs, and a cache of its own for each run of the tests."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from builders.bundled import bundled_file
from tests import demo_runs

os.environ.setdefault("HF_HUB_OFFLINE", "1")
if "PYTEST_XDIST_WORKER" in os.environ:  # workers share the cores, and torch's threads wait for each other by spinning
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes depends on what else the machine does; no test is to fail for that.
settings.register_profile("icr2", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("icr2")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever test is the first to read the demo waits until it is built, which takes minutes."""
    for item in items:
        if "demo" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(1500), append=False)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs; the test is skipped where it is missing."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("ICR2_TEST_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"real inputs are not at {folder}; set ICR2_TEST_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo dataset, built and validated by the commands once for all tests that read it, in whichever process.

    Finished runs take the place of the retrievers: tests/test_demo_runs.py holds them against the retrievers.
    What `icr2 validate --fail-on warning` printed lies beside it in `validate.log`, after a line with its exit code.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo"
    out = folder / "icr2"
    with FileLock(str(folder.with_suffix(".lock"))):
        if not out.is_dir():
            folder.mkdir(exist_ok=True)
            icr2 = [sys.executable, "-m", "icr2_cli"]
            subprocess.run([*icr2, "build", "demo", "--out", str(out), "--set", f"runs={demo_runs.FOLDER}"], check=True)
            validate = [*icr2, "validate", str(out), "--html", str(folder / "validation"), "--fail-on", "warning"]
            done = subprocess.run(validate, capture_output=True, text=True)
            (folder / "validate.log").write_text(f"{done.returncode}\n{done.stdout}{done.stderr}", encoding="utf-8")
    return out


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """The demo's tokenizer as its own library loads it, independent of the builder's counter."""
    from transformers import AutoTokenizer

    gguf = bundled_file("smollm2")
    return AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
