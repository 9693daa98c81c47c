from collections.abc import Callable
from pathlib import Path

from eval_harness.report.figures import by_length, by_ratio, length_figure, ratio_figure, svg_of, write_png
from eval_harness.report.sections import Report, compute
from eval_harness.report.statistics import MACRO
from eval_harness.report.study import Study
from tests.eval_harness.report.conftest import make_row

Make = Callable[..., Study]


def report_of(study_of: Make, *configs: str, method: str = "vanilla_rag") -> Report:
    """Two tasks at a score that falls with the ratio: 1, 0.5 and 0 at p0, p50 and p100."""
    rows = []
    for config in configs:
        score = 1 - int(config.partition("_p")[2] or 0) / 100
        for task in ("nq", "fever"):
            rows += [make_row(f"{task}-1", score, task=task, config=config, method=method)]
            rows += [make_row(f"{task}-1", 1.0, task=task, config=config, method="oracle_rag")]
    return compute(study_of(rows), "vanilla_rag")


def test_figure_1_has_a_row_for_each_length_and_a_panel_for_each_task(study_of: Make) -> None:
    report = report_of(study_of, "1k_p0", "1k_p50", "1k_p100", "4k_p0", "4k_p100", "8k_p0", "loft_4k")
    panels = by_ratio(report)
    assert {row: list(tasks) for row, tasks in panels.items()} == {
        "1k": ["fever", "nq", MACRO],
        "4k": ["fever", "nq", MACRO],
    }
    vanilla, oracle = panels["1k"]["nq"]
    assert [(point.x, point.mean) for point in vanilla.points] == [(0, 100.0), (50, 50.0), (100, 0.0)]
    assert (oracle.condition, [point.mean for point in oracle.points]) == ("oracle", [100.0] * 3)


def test_the_other_figure_has_a_row_for_each_ratio(study_of: Make) -> None:
    panels = by_length(report_of(study_of, "1k_p0", "4k_p0", "4k_p50", "loft_4k", "loft_32k"))
    assert {row: [point.x for point in tasks["nq"][0].points] for row, tasks in panels.items()} == {
        "p0": [1024, 4096],
        "loft": [4096, 32768],
    }


def test_one_place_is_no_figure(study_of: Make) -> None:
    report = report_of(study_of, "1k_p50")
    assert ratio_figure(report) is None
    assert length_figure(report) is None


def test_equal_reports_are_equal_pictures(study_of: Make, tmp_path: Path) -> None:
    report = report_of(study_of, "1k_p0", "1k_p100", method="a$_$<i>")  # $_$ is no formula
    files = []
    for name in ("a.png", "b.png"):
        figure = ratio_figure(report)
        assert figure
        write_png(figure, tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert files[0].startswith(b"\x89PNG")
    first, second = (svg_of(figure) for _ in range(2) if (figure := ratio_figure(report)))
    assert first == second
    assert b"<svg" in first
