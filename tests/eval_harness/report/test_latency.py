from collections.abc import Callable
from dataclasses import replace

from eval_harness.report.latency import latency, seconds_by_task
from eval_harness.report.study import Study
from tests.eval_harness.report.conftest import make_row

Make = Callable[..., Study]


def test_seconds_and_steps_are_means_over_the_answers_that_have_them(study_of: Make) -> None:
    vanilla = [
        replace(make_row("nq-1", 1.0), latency_s=2.0, n_prompt_tokens=100, n_cached_tokens=0, n_new_tokens=4),
        replace(make_row("nq-2", 1.0), latency_s=1.0, n_prompt_tokens=100, n_cached_tokens=60, n_new_tokens=7),
        replace(make_row("nq-3", None, status="overlength"), latency_s=None),
    ]
    rap = [
        replace(
            make_row("nq-1", 1.0, method="rap@1x1"),
            latency_s=1.5,
            steps_s={"probe": 1.0, "filter": 0.1, "answer": 0.4},
            n_prompt_tokens=20,
            n_cached_tokens=None,
            n_new_tokens=4,
        )
    ]
    found = latency(study_of([*vanilla, *rap]))
    assert found.header == [
        *("method", "config", "model", "n", "seconds", "probe", "filter", "answer", "tokens read"),
        *("shared", "tokens written"),
    ]
    assert found.rows == [
        ["vanilla_rag", "1k_p0", "tiny", "2", "1.50", "–", "–", "–", "70", "30", "6"],
        ["rap@1x1", "1k_p0", "tiny", "1", "1.50", "1.00", "0.10", "0.40", "20", "0", "4"],
    ]


def test_seconds_of_each_task_stand_beside_with_their_paired_difference(study_of: Make) -> None:
    """Two of nq: 2 and 4 seconds directly, 3 and 6 with heads; the third was answered by one method alone."""
    direct = [replace(make_row(id, 1.0, method="sft_da"), latency_s=s) for id, s in (("nq-1", 2.0), ("nq-2", 4.0))]
    probed = [
        replace(make_row(id, 1.0, method="sft_da+rap@1x1"), latency_s=s)
        for id, s in (("nq-1", 3.0), ("nq-2", 6.0), ("nq-3", 9.0))
    ]
    section, lines = seconds_by_task(study_of([*direct, *probed]), "table7", "Table 7: seconds", [])
    means = {(line["task"], line["column"]): (line["mean"], line["n"]) for line in lines}
    assert means["nq", "sft_da"] == (3.0, 2) and means["nq", "sft_da+rap@1x1"] == (6.0, 3)
    assert means["nq", "sft_da+rap@1x1 − sft_da"] == (1.5, 2)
    assert section.rows[0][0] == "nq" and section.rows[0][1].startswith("3.00\n[")
