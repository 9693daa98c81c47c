"""One path from an output to its scores."""

import pytest

from eval_harness.methods.direct import Direct
from eval_harness.parsing.answers import Parsed
from eval_harness.scoring.qa import QA
from eval_harness.scoring.registry import headline_of
from eval_harness.scoring.score import Wanted, score_output
from tests.eval_harness.specs import FEVER, NQ, WOW


def test_an_answer_is_read_and_scored_against_what_is_usable() -> None:
    found = score_output(Wanted(NQ, ["<unk>", "Lima"]), Direct(), "Answer: Lima\nAnswer: Rome")
    assert (found.parsed, found.is_scorable) == (Parsed("Lima", 2), True)
    assert found.scores == QA.score("Lima", ["Lima"])


@pytest.mark.parametrize("output", [None, "<think>Lima", ""])
def test_no_answer_scores_0_in_everything(output: str | None) -> None:
    found = score_output(Wanted(NQ, ["Lima"]), Direct(), output)
    assert found.parsed.answer is None
    assert found.scores == dict.fromkeys(QA.metrics, 0.0)


def test_without_a_usable_answer_there_are_no_scores() -> None:
    found = score_output(Wanted(FEVER, ["NOT ENOUGH INFO"]), Direct(), "TRUE")
    assert (found.parsed.answer, found.scores, found.is_scorable) == ("SUPPORTS", {}, False)


def test_the_headline_of_a_task_follows_the_language() -> None:
    assert [headline_of(WOW, language) for language in ("en", "th")] == ["rouge_l", "rouge_l_strict"]
    assert [headline_of(NQ, language) for language in ("en", "zh")] == ["subspan_em", "subspan_em_strict"]
    assert headline_of(FEVER, "zh") == "label_accuracy"
