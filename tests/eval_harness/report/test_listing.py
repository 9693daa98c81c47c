"""A report over more results than a page can list says so, and holds no more outputs than it lists."""

from pathlib import Path

import pytest

from eval_harness.report import listing
from eval_harness.report.payload import Room, payload
from eval_harness.report.study import one_study, read_studies
from eval_harness.report.table import cells
from tests.eval_harness.report.conftest import make_row, write_run

ROOM = Room(passages=1000, output=1000)
METHODS = ("vanilla_rag", "oracle_rag")


def run_of(folder: Path, n: int) -> Path:
    rows = [make_row(f"nq-{id}", float(id % 2), method=method, output="long") for method in METHODS for id in range(n)]
    return write_run(folder, rows)


def test_a_large_report_lists_the_same_share_of_instances_in_every_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LISTED", 40)
    study = one_study(read_studies([run_of(tmp_path / "run", 200)], listed=True))
    shown = payload(study, {}, ROOM)
    by_method = {method: {row["id"] for row in shown.content["rows"] if row["method"] == method} for method in METHODS}
    first, second = by_method.values()
    assert first == second
    assert 0 < len(first) < 60
    assert all(row["output"] == "long" for row in shown.content["rows"])
    assert f"{2 * len(first):,} of 400 results are listed" in shown.left_out[-1]
    assert sum(row.output is not None for row in study.all_rows) == 2 * len(first)  # what is held in memory
    assert [(cell.n, cell.headline) for cell in cells(study.all_rows)] == [(200, 0.5)] * 2  # the tables are over all


def test_a_small_report_lists_everything(tmp_path: Path) -> None:
    study = one_study(read_studies([run_of(tmp_path / "run", 5)]))
    shown = payload(study, {}, ROOM)
    assert len(shown.content["rows"]) == 10
    assert not any("listed" in note for note in shown.left_out)


def test_a_larger_report_lists_a_part_of_what_a_smaller_one_does() -> None:
    """So that what is read of one run covers what is listed of several."""
    ids = [f"q{n}" for n in range(3000)]
    listed = [{id for id in ids if listing.is_listed(id, n)} for n in (20_000, 40_000, 191_262)]
    assert listed[0] == set(ids) > listed[1] > listed[2]
    assert len(listed[2]) / 3000 == pytest.approx(20_000 / 191_262, abs=0.03)
