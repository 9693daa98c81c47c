from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.protocols.oncu.matched import FULL, NONE, ORACLE, matched
from eval_harness.report.study import one_study, read_studies
from tests.eval_harness.protocols.oncu.twelve import BM25, METHODS, matched_of, row_of, rows_of, study_of
from tests.eval_harness.report.conftest import write_run


def test_the_four_conditions_side_by_side(tmp_path: Path) -> None:
    dense = [row_of(row.id, "retrieved_dense+cite", 1, 1, task=row.task) for row in rows_of() if row.method == NONE]
    plain = [row_of("nq-1", "vanilla_rag", 1)]
    found = matched_of(tmp_path / "run", [*rows_of(), *dense, *plain])
    assert found.methods == (NONE, FULL, BM25, "retrieved_dense+cite", ORACLE)
    assert len(found.rows) == 12
    assert all(list(rows) == list(found.methods) for rows in found.rows.values())
    assert found.left_out == []


def test_an_instance_missing_from_one_condition_is_refused_by_its_id(tmp_path: Path) -> None:
    rows = [row for row in rows_of() if (row.id, row.method) != ("nq-3", ORACLE)]
    with pytest.raises(SetupError, match=r"oracle_rag\+cite of tiny on 1k_p0 lacks nq-3; rerun to resume"):
        matched(study_of(tmp_path / "run", rows))
    rows = [row for row in rows_of() if row.task != "nq" or row.method != NONE]
    with pytest.raises(SetupError, match=r"closed_book\+cite of tiny on 1k_p0 lacks nq-1, nq-2, nq-3 and 5 more"):
        matched(study_of(tmp_path / "other", rows))


@pytest.mark.parametrize("status", ["n/a", "overlength", "unscorable"])
def test_an_instance_that_one_condition_cannot_count_leaves_all_four(tmp_path: Path, status: str) -> None:
    """N is the same in every condition, and what is left out is named."""
    rows = [row for row in rows_of() if (row.id, row.method) != ("nq-3", ORACLE)]
    found = matched_of(tmp_path / "run", [*rows, row_of("nq-3", ORACLE, 0, status=status)])  # type: ignore[arg-type]
    assert len(found.rows) == 11
    assert "nq-3" not in found.rows
    assert found.left_out == [("nq-3", ORACLE, status)]


def test_unparsed_and_failed_answers_stay_and_count_as_wrong(tmp_path: Path) -> None:
    """One denominator for all measures."""
    rows = [row for row in rows_of() if (row.id, row.method) != ("nq-1", FULL)]
    found = matched_of(tmp_path / "run", [*rows, row_of("nq-1", FULL, 0, status="error", error="out of memory")])
    assert len(found.rows) == 12
    assert found.rows["nq-1"][FULL].scores["em"] == 0


def test_no_instance_in_all_conditions_is_an_error_that_says_why(tmp_path: Path) -> None:
    rows = [row_of("nq-1", m, 0, status="n/a" if m == ORACLE else "ok") for m in METHODS]
    with pytest.raises(SetupError, match=r"no instance counts in all four conditions: n/a in oracle_rag\+cite"):
        matched(study_of(tmp_path / "run", rows))


def test_another_contract_is_refused_and_named(tmp_path: Path) -> None:
    rows = [row_of("nq-1", method.removesuffix("+cite") if method == ORACLE else method, 1) for method in METHODS]
    with pytest.raises(
        SetupError, match=r"lacks oracle_rag\+cite \(oracle_rag did not ask for evidence, so its prompts differ\)"
    ):
        matched(study_of(tmp_path / "run", rows))
    with pytest.raises(SetupError, match=r"tiny on 1k_p0 lacks retrieved_bm25\+cite; run: icr2 oncu DIR"):
        matched(study_of(tmp_path / "other", [row_of("nq-1", m, 1) for m in (NONE, FULL, ORACLE)]))


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("max_new_tokens.qa", {"max_new_tokens": {"qa": 64}}, {"max_new_tokens": {"qa": 8}}),
        ("decoding", {"decoding": "greedy"}, {"decoding": "sampled"}),
        ("scorer_version", {"scorer_version": "1"}, {"scorer_version": "2"}),
        ("model.dtype", {}, {"model": {"name": "tiny", "dtype": "bfloat16"}}),
    ],
)
def test_conditions_answered_under_two_settings_are_refused_naming_what_differs(
    tmp_path: Path, name: str, one: dict[str, object], other: dict[str, object]
) -> None:
    first = write_run(tmp_path / "a", [row for row in rows_of() if row.method != ORACLE], **one)
    second = write_run(tmp_path / "b", [row for row in rows_of() if row.method == ORACLE], **other)
    with pytest.raises(SetupError, match=f"runs of tiny differ in {name}; the conditions must use equal settings"):
        matched(one_study(read_studies([first, second])))


def test_the_conditions_may_come_from_several_runs_of_one_setting(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", [row for row in rows_of() if row.method != ORACLE], protocol="oncu")
    second = write_run(tmp_path / "b", [row for row in rows_of() if row.method == ORACLE])
    (found,) = matched(one_study(read_studies([first, second])))
    assert len(found.rows) == 12


def test_two_models_must_be_asked_alike_and_the_same(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a", rows_of(), split="test")
    other = {"name": "other"}
    second = write_run(tmp_path / "b", rows_of(), model=other, split="validation")
    with pytest.raises(SetupError, match="tiny and other differ in split; give runs with equal settings"):
        matched(one_study(read_studies([first, second])))
    third = write_run(tmp_path / "c", [row for row in rows_of() if row.id != "nq-1"], model=other)
    with pytest.raises(SetupError, match="tiny and other have different instances of 1k_p0: nq-1"):
        matched(one_study(read_studies([first, third])))
    fourth = write_run(tmp_path / "d", rows_of(), model=other)
    assert [found.model for found in matched(one_study(read_studies([first, fourth])))] == ["tiny", "other"]
