from pathlib import Path

import pytest

from benchmarks import bm25
from benchmarks.bm25 import Side, agreement, bench


def test_agreement_needs_the_same_rows_in_the_same_order() -> None:
    ours = Side(1.0, 1.0, [[1, 2], [3, 4], []], [[2.0, 1.0], [5.0, 4.0], []])
    peer = Side(1.0, 1.0, [[1, 2], [4, 3], []], [[2.0, 1.25], [9.0, 9.0], []])
    assert agreement(ours, peer) == (2, 0.25)
    longer = Side(1.0, 1.0, [[1, 2, 3]], [[2.0, 1.0, 0.5]])
    assert agreement(longer, longer._replace(rows=[[1, 2]], scores=[[2.0, 1.0]])) == (0, 0.0)


@pytest.mark.slow
def test_a_run_gives_a_ratio_and_both_sides_agree(
    small_kilt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "REPEATS", 1)
    speed, memory = bench(small_kilt, tmp_path)
    assert speed.agrees, speed.notes
    assert speed.ratio == pytest.approx(speed.ours / speed.peer)
    assert 0 < memory.ours < memory.peer * 10
