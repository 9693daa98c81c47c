"""How many tokens an output may have."""

import pytest

from eval_harness.methods.direct import Direct
from eval_harness.methods.limits import LIMITS, as_in_the_paper, fixed
from eval_harness.methods.tuned import Tuned
from tests.eval_harness.specs import FEVER, NEEDLE, NQ, QUEST, WOW


def test_an_answer_has_what_its_kind_needs_and_more_where_evidence_is_asked_for() -> None:
    assert [LIMITS.of(Direct(), task, 10**6) for task in (NQ, FEVER, WOW, QUEST, NEEDLE)] == [64, 32, 128, 64, 64]
    assert LIMITS.of(Direct(cites=True), FEVER, 10**6) == 32 + 32


@pytest.mark.parametrize(
    ("room", "want"), [(5000, 64 + 1024), (1000, 1000), (96, 96), (95, 64 + 32), (10, 64 + 32)]
)  # a prompt that leaves a retrieval fewer than 32 tokens does not fit
def test_a_retrieval_has_what_fits(room: int, want: int) -> None:
    assert LIMITS.of(Tuned("rta"), NQ, room) == want


def test_a_citation_takes_no_more_than_its_numbers() -> None:
    assert LIMITS.of(Tuned("cci"), NQ, 5000) == 64 + 128


def test_a_limit_that_is_asked_for_is_that_of_everything() -> None:
    assert {fixed(9).of(method, WOW, 100) for method in (Direct(), Direct(cites=True), Tuned("rta"))} == {9}


@pytest.mark.parametrize(
    ("method", "room", "want"),
    [
        (Direct(), 5000, 1024),
        (Direct(), 1024, 1024),
        (Direct(), 990, 990),  # after a prompt of 31,744 tokens and 34 of a chat template, in 32,768 positions
        (Direct(), 10, 128),  # that prompt does not fit under any limit
        (Direct(cites=True), 10, 128 + 32),
        (Tuned("rta"), 5000, 1024),
        (Tuned("rta"), 10, 128 + 32),
    ],
)
def test_the_papers_limit_makes_no_prompt_overlength(method: Direct | Tuned, room: int, want: int) -> None:
    """1,024 tokens for every output (appendix C.2), but no more than fit beside a prompt."""
    assert as_in_the_paper().of(method, WOW, room) == want
