from collections.abc import Callable

from eval_harness.report.matched import (
    Comparison,
    baseline_of,
    between_configs,
    between_methods,
    by_task,
    matched_rows,
    scores_by_setting,
)
from eval_harness.report.statistics import MACRO
from eval_harness.report.study import Study
from tests.eval_harness.report.conftest import make_row

Make = Callable[..., Study]


def test_an_instance_without_gold_is_left_out_everywhere(study_of: Make) -> None:
    """The conditions use the same instances."""
    study = study_of(
        [
            make_row("nq-1", 1.0, method="vanilla_rag"),
            make_row("nq-2", 0.0, method="vanilla_rag"),
            make_row("nq-1", 1.0, method="oracle_rag"),
            make_row("nq-2", None, method="oracle_rag", status="n/a"),
            make_row("nq-1", 0.0, method="closed_book"),
            make_row("nq-2", 1.0, method="closed_book"),
        ]
    )
    assert {(row.id, row.method) for row in matched_rows(study)["tiny"]} == {
        ("nq-1", "vanilla_rag"),
        ("nq-1", "oracle_rag"),
        ("nq-1", "closed_book"),
    }
    found = between_methods(study, scores_by_setting(study), "vanilla_rag")
    assert [(one.second, change.n, change.mean) for one in found if (change := one.changes["nq"])] == [
        ("oracle_rag", 1, 0.0),
        ("closed_book", 1, -1.0),  # with nq-2 it would be 0
    ]


def test_an_overlength_instance_leaves_its_own_comparisons_alone(study_of: Make) -> None:
    study = study_of(
        [
            *(make_row(f"nq-{n}", 1.0, config=config) for n in (1, 2) for config in ("1k_p0", "1k_p50")),
            make_row("nq-1", 0.0, config="1k_p100"),
            make_row("nq-2", None, config="1k_p100", status="overlength"),
        ]
    )
    found = between_configs(study, scores_by_setting(study))
    assert [(one.first, one.second, change.n, change.mean) for one in found if (change := one.changes["nq"])] == [
        ("1k_p0", "1k_p50", 2, 0.0),
        ("1k_p0", "1k_p100", 1, -1.0),
    ]


def test_unparsed_and_failed_answers_are_compared_as_wrong(study_of: Make) -> None:
    study = study_of(
        [
            make_row("nq-1", 1.0),
            make_row("nq-2", 1.0),
            make_row("nq-1", 0.0, method="rap", status="unparsed"),
            make_row("nq-2", 0.0, method="rap", status="error"),
        ]
    )
    (found,) = between_methods(study, scores_by_setting(study), "vanilla_rag")
    assert found.changes["nq"] is not None
    assert (found.changes["nq"].n, found.changes["nq"].mean) == (2, -1.0)


def test_configs_are_compared_along_ratios_and_along_lengths(study_of: Make) -> None:
    configs = ("1k_p0", "1k_p75", "4k_p0", "4k_p75", "loft_4k", "loft_32k")
    study = study_of([make_row("nq-1", config=config) for config in configs])
    found = between_configs(study, scores_by_setting(study))
    assert [(one.first, one.second) for one in found] == [
        ("1k_p0", "1k_p75"),
        ("4k_p0", "4k_p75"),
        ("1k_p0", "4k_p0"),
        ("1k_p75", "4k_p75"),
        ("loft_4k", "loft_32k"),
    ]


def test_equal_prompts_are_no_comparison_of_configs(study_of: Make) -> None:
    study = study_of([make_row("nq-1", config=c, method="closed_book", prompt="same") for c in ("1k_p0", "1k_p100")])
    assert between_configs(study, scores_by_setting(study)) == []


def test_a_task_without_a_matched_instance_has_no_macro_average(study_of: Make) -> None:
    study = study_of(
        [
            make_row("nq-1", config="1k_p0"),
            make_row("nq-1", config="1k_p75"),
            make_row("wow-1", task="wow", config="1k_p0"),
            make_row("wow-2", task="wow", config="1k_p75"),
        ]
    )
    (found,) = between_configs(study, scores_by_setting(study))
    assert isinstance(found, Comparison)
    assert found.changes["wow"] is None
    assert found.changes[MACRO] is None


def test_the_baseline_is_the_first_method_where_the_wanted_one_was_not_run(study_of: Make) -> None:
    study = study_of([make_row("nq-1", method="closed_book"), make_row("nq-1", method="oracle_rag")])
    assert baseline_of(study, "vanilla_rag") == "closed_book"
    assert baseline_of(study, "oracle_rag") == "oracle_rag"


def test_a_question_at_several_depths_is_one() -> None:
    values = {("c", "a"): 1.0, ("c", "b"): 0.5, ("c", "x"): 0.0, ("nq", "a"): 1.0}
    questions = {("c", "a"): "1", ("c", "b"): "2", ("c", "x"): "1", ("nq", "a"): "a"}
    assert by_task(values, questions, ["c", "nq"]) == {"c": [[1.0, 0.0], [0.5]], "nq": [[1.0]]}
