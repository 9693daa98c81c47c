from collections.abc import Callable
from dataclasses import replace

from eval_harness.report.latency import latency
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
        *("method", "config", "model", "n", "seconds", "probe", "filter", "answer", "tokens read", "tokens written")
    ]
    assert found.rows == [
        ["vanilla_rag", "1k_p0", "tiny", "2", "1.50", "–", "–", "–", "70", "6"],
        ["rap@1x1", "1k_p0", "tiny", "1", "1.50", "1.00", "0.10", "0.40", "20", "4"],
    ]
