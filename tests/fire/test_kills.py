"""A few kills at seeded random moments; `make fire` sends many more."""

from pathlib import Path
from random import Random

import pytest

from tests.fire.kills import JOBS, fire


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="reads /proc")
@pytest.mark.parametrize("name", JOBS)
def test_after_any_kill_the_same_command_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    counts = fire(JOBS[name], tmp_path, Random(f"kills {name}"), rounds=1, kills=2)
    assert counts["kills"] == 2
    faults = ("traceback", "wrong end", "process left", "other bytes")
    assert {fault: counts[fault] for fault in faults if counts[fault]} == {}
