import json
import sys
from pathlib import Path

import pytest

from benchmarks import memory
from benchmarks.memory import bench, peak_megabytes, repeat_pages
from tests.benchmarks.conftest import build_by_itself

pytest.importorskip("psutil")


def test_copies_of_a_page_have_ids_and_titles_of_their_own(tmp_path: Path) -> None:
    page = {"_id": "7", "wikipedia_id": "7", "wikipedia_title": "Oslo", "text": ["Oslo\n", "Trams."], "anchors": []}
    (tmp_path / "once").write_text(json.dumps(page) + "\n")
    repeat_pages(tmp_path / "once", tmp_path / "out", 3)
    copies = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert copies[0] == page
    assert [copy["wikipedia_id"] for copy in copies] == ["7", "7-1", "7-2"]
    assert [copy["text"] for copy in copies[1:]] == [["Oslo (1)\n", "Trams."], ["Oslo (2)\n", "Trams."]]


def test_the_peak_counts_child_processes() -> None:
    child = "import time; held = bytearray(90_000_000); time.sleep(0.8)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert 90 < peak_megabytes([sys.executable, "-c", parent]) < 300


def test_a_command_that_fails_is_an_error_with_what_it_said() -> None:
    with pytest.raises(RuntimeError, match="no such thing"):
        peak_megabytes([sys.executable, "-c", "import sys; sys.exit('no such thing')"])


@pytest.mark.slow
def test_a_run_gives_a_ratio(small_kilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "build_command", build_by_itself)
    (result,) = bench(small_kilt, tmp_path)
    assert result.ratio == pytest.approx(result.ours / result.peer)
    assert 0.5 < result.ratio < 2
