"""Shared fixtures: the folder of real inputs, and a cache of its own for each run of the tests."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs; the test is skipped where it is missing."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("ICR2_TEST_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"real inputs are not at {folder}; set ICR2_TEST_DATA to their folder")
    return folder
