from pathlib import Path

import pytest

from benchmarks.validation import bench

pytest.importorskip("psutil")


@pytest.mark.slow
def test_a_run_gives_speeds_of_both_sides(small_kilt: Path, tmp_path: Path) -> None:
    speed, memory = bench(small_kilt, tmp_path)
    assert speed.ours < speed.peer, "a suite that is faster than a scan reads nothing"
    assert 100 < memory.ours < 1000
