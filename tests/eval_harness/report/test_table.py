from dataclasses import replace
from io import StringIO

from rich.console import Console

from eval_harness.report import cells, macro, summary, table
from eval_harness.report.table import headline_of
from eval_harness.run.results import Row, Status
from eval_harness.scoring.registry import scorer_of
from tests.eval_harness.report.conftest import spec_of


def rows(task: str, statuses: list[tuple[Status, float]], method: str = "vanilla_rag") -> list[Row]:
    """Rows of one config with a status and a score each; those that leave n have no scores."""
    spec = spec_of(task)
    return [
        Row(
            f"{task}-{number}",
            task,
            spec.kind,
            spec.scored_by,
            "1k_p0",
            "test",
            "vanilla",
            method,
            "fake",
            status,
            dict.fromkeys(scorer_of(spec).metrics, score) if status in ("ok", "unparsed", "error") else {},
        )
        for number, (status, score) in enumerate(statuses)
    ]


def text_of(found: list[Row]) -> str:
    output = StringIO()
    Console(width=200, file=output).print(table(cells(found), "t"))
    return output.getvalue()


def test_what_is_averaged_over_what_is_named() -> None:
    """Macro, 0.75, where micro would be 0.545."""
    found = cells([*rows("nq", [("ok", 1.0), ("ok", 0.0)] * 50), *rows("fever", [("ok", 1.0)] * 10)])
    assert [(cell.task, cell.n, cell.headline) for cell in found] == [("fever", 10, 1.0), ("nq", 100, 0.5)]
    assert macro(found) == 0.75
    assert summary(found)["macro_over_tasks"] == [
        {"config": "1k_p0", "method": "vanilla_rag", "n_tasks": 2, "score": 0.75}
    ]


def test_overlength_items_leave_n_and_are_printed() -> None:
    """Mean over 7, with n and the number left out."""
    found = rows("nq", [("ok", 1.0)] * 7 + [("overlength", 0.0)] * 3)
    (cell,) = cells(found)
    assert (cell.n, cell.headline, cell.statuses) == (7, 1.0, {"ok": 7, "overlength": 3})
    text = text_of(found)
    assert "100.0 (n=7)" in text
    assert "3 overlength" in text


def test_unparsed_and_failed_items_stay_in_n() -> None:
    """One denominator for all measures."""
    (cell,) = cells(rows("nq", [("ok", 1.0), ("unparsed", 0.0), ("error", 0.0), ("unscorable", 0.0), ("n/a", 0.0)]))
    assert cell.n == 3
    assert cell.means == dict.fromkeys(scorer_of(spec_of("nq")).metrics, 1 / 3)


def test_no_rows_is_no_score_and_never_zero() -> None:
    found = [*rows("nq", [("overlength", 0.0)]), *rows("fever", [("ok", 0.0)])]
    by_task = {cell.task: cell for cell in cells(found)}
    assert by_task["nq"].headline is None
    assert by_task["fever"].headline == 0.0
    assert macro(list(by_task.values())) is None
    assert "– (n=0)" in text_of(found)


def test_rows_that_average_over_different_instances_are_pointed_out() -> None:
    even = [*rows("nq", [("ok", 1.0)] * 2), *rows("nq", [("ok", 1.0)] * 2, "oracle_rag")]
    odd = [*rows("nq", [("ok", 1.0)] * 2), *rows("nq", [("ok", 1.0), ("n/a", 0.0)], "oracle_rag")]
    assert "different instances" not in text_of(even)
    assert "different instances" in text_of(odd)


def test_the_strict_metric_is_the_headline_where_a_result_says_so() -> None:
    """ROUGE-L as published is 0 in Thai, whatever is answered."""
    (row,) = rows("wow", [("ok", 0.0)])
    row = replace(row, scores=row.scores | {"rouge_l_strict": 1.0}, headline="rouge_l_strict")
    (cell,) = found = cells([row])
    assert (cell.headline, headline_of(row), macro(found)) == (1.0, 1.0, 1.0)
    assert summary(found)["cells"][0]["headline"] == "rouge_l_strict"
    said = text_of([row])
    assert "rouge_l_strict" in said
    assert "100.0 (n=1)" in said
    assert "official 0.0" in said
