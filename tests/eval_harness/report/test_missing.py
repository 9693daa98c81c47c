"""A report on a run that was stopped says what is missing."""

from collections.abc import Callable
from pathlib import Path

from eval_harness.report.document import markdown
from eval_harness.report.missing import Missing, missing
from eval_harness.report.runs import study_document
from eval_harness.report.study import Study, one_study, read_studies
from tests.eval_harness.report.conftest import make_row, write_run

METHODS = ["vanilla_rag", "oracle_rag"]


def test_a_stopped_run_says_what_is_missing_by_config_and_method(study_of: Callable[..., Study]) -> None:
    """32 of 120 results, and a method that was never asked."""
    study = study_of([make_row(f"nq-{n}") for n in range(32)], planned={"1k_p0": 60}, methods=METHODS)
    assert missing(study) == [
        Missing("tiny", "1k_p0", "vanilla_rag", 32, 60),
        Missing("tiny", "1k_p0", "oracle_rag", 0, 60),
    ]
    text = markdown(study_document(study, "vanilla_rag"), with_figures=False)
    assert "## Missing results" in text
    assert "| tiny | 1k_p0 | oracle_rag | 0 | 60 |" in text


def test_a_finished_run_and_one_that_does_not_say_have_no_such_table(study_of: Callable[..., Study]) -> None:
    study = study_of([make_row("nq-1"), make_row("nq-2")], planned={"1k_p0": 2}, methods=["vanilla_rag"])
    assert missing(study) == []
    assert "Missing results" not in markdown(study_document(study, "vanilla_rag"), with_figures=False)


def test_shards_add_up_and_a_repeated_run_does_not(tmp_path: Path) -> None:
    runs = [
        write_run(tmp_path / name, [make_row(id)], planned={"1k_p0": 1}, methods=["vanilla_rag"], shard=shard)
        for name, id, shard in [("a", "nq-1", [1, 2]), ("b", "nq-2", [2, 2]), ("again", "nq-1", [1, 2])]
    ]
    assert missing(one_study(read_studies(runs))) == []
    assert missing(one_study(read_studies(runs[:1]))) == []
