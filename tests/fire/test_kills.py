"""A few kills at seeded random moments; `make fire` sends many more.

A training takes too long for random moments: tests/eval_harness/train/test_resume.py kills one at chosen ones.
"""

from pathlib import Path
from random import Random

import pytest

from tests.fire.jobs import JOBS
from tests.fire.kills import fire


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="reads /proc")
@pytest.mark.parametrize("name", sorted(JOBS.keys() - {"train"}))
def test_after_any_kill_the_same_command_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    counts = fire(JOBS[name], tmp_path, Random(f"kills {name}"), rounds=1, kills=2)
    assert counts["kills"] == 2
    faults = ("traceback", "wrong end", "process left", "other bytes")
    assert {fault: counts[fault] for fault in faults if counts[fault]} == {}
