from pathlib import Path

import pytest

from benchmarks import validation
from benchmarks.validation import bench
from tests import in_process
from tests.benchmarks.conftest import build_by_itself

pytest.importorskip("psutil")


@pytest.mark.slow
def test_a_run_gives_speeds_of_both_sides(small_kilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "subprocess", in_process)
    monkeypatch.setattr(validation, "build_command", build_by_itself)
    monkeypatch.setattr(validation, "LIMIT", 1)
    speed, memory = bench(small_kilt, tmp_path)
    assert speed.ours < speed.peer, "a suite that is faster than a scan reads nothing"
    assert 100 < memory.ours < 1000
