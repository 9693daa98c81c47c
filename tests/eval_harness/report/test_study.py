from dataclasses import replace
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.report.study import one_study, read_studies
from tests.eval_harness.report.conftest import make_row, write_run


def test_shards_of_one_run_are_put_together(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", [make_row("nq-2"), make_row("nq-1", latency_s=1.0)], shard="1/2")
    second = write_run(tmp_path / "b", [make_row("nq-3"), make_row("nq-1", latency_s=2.0)], shard="2/2", limit=3)
    study = one_study(read_studies([first, second]))
    assert list(study.rows) == ["tiny"]
    assert [row.id for row in study.rows["tiny"]] == ["nq-1", "nq-2", "nq-3"]
    assert study.runs == {"tiny": ["a", "b"]}
    assert study.differing == {"tiny": {}}


def test_mixed_settings_are_kept_apart_and_named(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", [make_row("nq-1")])
    second = write_run(tmp_path / "b", [make_row("nq-1", 0.0)], model={"name": "tiny", "dtype": "bfloat16"})
    third = write_run(tmp_path / "c", [make_row("nq-1")], model={"name": "other"})
    study = one_study(read_studies([first, second, third]))
    assert list(study.rows) == ["tiny #1", "tiny #2", "other"]
    assert study.differing == {
        "tiny #1": {"model.dtype": "float32"},
        "tiny #2": {"model.dtype": "bfloat16"},
        "other": {},
    }


def test_a_setting_that_a_run_has_no_use_for_is_no_difference(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / "a", [make_row("nq-1")], retrieval=None, encoder=None),
        write_run(tmp_path / "b", [make_row("nq-1", method="x")], retrieval={"bm25": {"k1": 0.9}}, encoder=None),
        write_run(tmp_path / "c", [make_row("nq-1", method="y")], retrieval={"dense": 1}, encoder="minilm"),
    ]
    assert list(one_study(read_studies(runs)).rows) == ["tiny"]
    other = write_run(tmp_path / "d", [make_row("nq-1", method="x")], retrieval={"bm25": {"k1": 1.2}})
    study = one_study(read_studies([*runs, other]))
    assert study.runs == {"tiny #1": ["a", "b", "c"], "tiny #2": ["d"]}


def test_an_error_gives_way_to_an_answer(tmp_path: Path) -> None:
    failed = write_run(tmp_path / "a", [make_row("nq-1", 0.0, status="error", error="out of memory")])
    done = write_run(tmp_path / "b", [make_row("nq-1")])
    for order in ([failed, done], [done, failed]):
        assert [row.status for row in one_study(read_studies(order)).rows["tiny"]] == ["ok"]


def test_two_answers_to_the_same_are_refused(tmp_path: Path) -> None:
    row = make_row("nq-1", output="Lima")
    first = write_run(tmp_path / "a", [row])
    second = write_run(tmp_path / "b", [replace(row, output="Peru")])
    with pytest.raises(SetupError, match=r"same settings differ on nq-1 \(1k_p0, vanilla_rag\)"):
        read_studies([first, second])


def test_runs_of_two_datasets_share_no_table(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", [make_row("nq-1")])
    dataset = {"name": "data", "version": "1.0.0", "manifest_sha256": "e" * 64}
    second = write_run(tmp_path / "b", [make_row("nq-1")], dataset=dataset)
    studies = read_studies([first, second, first])
    assert len(studies) == 2
    with pytest.raises(SetupError, match=r"of 2 datasets.*dddddddddddd\): a; .*eeeeeeeeeeee\): b; .*--apart"):
        one_study(studies)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", [])
    with pytest.raises(SetupError, match="has no results yet"):
        read_studies([run])
    (run / "run.json").write_text('{"model": {}, "dataset": {"name": "x"}}')
    with pytest.raises(SetupError, match=r"run\.json: dataset\.version: found nothing, wanted a value"):
        read_studies([run])
    (run / "run.json").write_text("[]")
    with pytest.raises(SetupError, match="not a run record"):
        read_studies([run])
    (run / "run.json").unlink()
    with pytest.raises(SetupError, match=r"has no run\.json"):
        read_studies([run])


def test_order_of_configs_tasks_and_methods(tmp_path: Path) -> None:
    rows = [
        make_row("nq-1", config="4k_p0", method="oracle_rag"),
        make_row("nq-1", config="1k_p0", method="vanilla_rag"),
        make_row("fever-1", task="fever", config="1k_p50", method="vanilla_rag"),
    ]
    study = one_study(read_studies([write_run(tmp_path / "a", rows, methods=["vanilla_rag", "oracle_rag"])]))
    assert study.configs == ["1k_p0", "1k_p50", "4k_p0"]
    assert study.tasks == ["fever", "nq"]
    assert study.methods == ["vanilla_rag", "oracle_rag"]
