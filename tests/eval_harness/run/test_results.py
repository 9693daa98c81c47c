import json
from dataclasses import replace
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.run.results import Results, Row, read_rows

ROW = Row(
    "nq-1",
    "nq",
    "qa",
    "qa",
    "1k_p0",
    "test",
    "vanilla",
    "vanilla_rag",
    "fake",
    "ok",
    {"subspan_em": 1.0},
    output="é\u2028x",
)
OTHER = replace(ROW, id="nq-2")
RECORD = {"model": {"name": "fake", "dtype": "float32"}, "split": "test", "configs": ["1k_p0"]}


def test_rows_are_on_disk_and_come_back(tmp_path: Path) -> None:
    results = Results(tmp_path / "run", RECORD)
    results.append([ROW])
    results.append([OTHER])
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == RECORD
    again = Results(tmp_path / "run", RECORD)
    assert again.rows == [ROW, OTHER]
    assert again.done == {("nq-1", "1k_p0", "vanilla_rag"), ("nq-2", "1k_p0", "vanilla_rag")}


def test_a_half_written_last_line_is_cut_off(tmp_path: Path) -> None:
    Results(tmp_path, RECORD).append([ROW])
    path = tmp_path / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    results = Results(tmp_path, RECORD)
    assert results.rows == [ROW]
    results.append([OTHER])
    assert read_rows(tmp_path) == [ROW, OTHER]


def test_a_line_cut_at_any_byte_is_left_out(tmp_path: Path) -> None:
    """Also inside a letter of several bytes."""
    Results(tmp_path, RECORD).append([ROW])
    path = tmp_path / "results.jsonl"
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole + whole[:cut])
        assert read_rows(tmp_path) == [ROW]


def test_a_row_that_stands_twice_counts_once(tmp_path: Path) -> None:
    Results(tmp_path, RECORD).append([ROW, ROW])
    assert Results(tmp_path, RECORD).rows == read_rows(tmp_path) == [ROW]


def test_a_line_broken_in_the_middle_is_an_error(tmp_path: Path) -> None:
    Results(tmp_path, RECORD).append([ROW])
    path = tmp_path / "results.jsonl"
    path.write_text("{\n" + path.read_text())
    with pytest.raises(SetupError, match="not a result"):
        Results(tmp_path, RECORD)


def test_an_error_is_tried_again(tmp_path: Path) -> None:
    Results(tmp_path, RECORD).append([replace(ROW, status="error", error="out of memory"), OTHER])
    results = Results(tmp_path, RECORD)
    assert results.rows == read_rows(tmp_path) == [OTHER]


def test_another_run_is_refused_with_the_keys_that_differ(tmp_path: Path) -> None:
    Results(tmp_path, RECORD)
    other = {"model": {"name": "fake", "dtype": "bfloat16"}, "split": "test", "configs": ["1k_p0"], "limit": 3}
    with pytest.raises(SetupError, match=r"differs in limit, model\.dtype; choose another --out"):
        Results(tmp_path, other)


def test_results_without_a_record_are_refused(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").touch()
    with pytest.raises(SetupError, match=r"no run\.json"):
        Results(tmp_path, RECORD)
