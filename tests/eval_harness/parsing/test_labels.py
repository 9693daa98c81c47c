import pytest

from builders.tasks import TaskSpec
from eval_harness.parsing.answers import parse
from eval_harness.scoring.label import LABEL_ACCURACY
from eval_harness.scoring.registry import scorer_of

HOVER = TaskSpec("hover", "fact", {"SUPPORTED": "SUPPORTED", "NOT_SUPPORTED": "NOT_SUPPORTED"})
SPACED = TaskSpec("claims", "fact", {"SUPPORTED": "supported", "NOT SUPPORTED": "not supported"})
THREE = TaskSpec("climate", "fact", {"SUPPORTS": "TRUE", "REFUTES": "FALSE", "NOT_ENOUGH_INFO": "NOT ENOUGH INFO"})


@pytest.mark.parametrize(
    ("task", "output", "want"),
    [
        (HOVER, "NOT_SUPPORTED", "NOT_SUPPORTED"),
        (HOVER, "Judgement: supported.", "SUPPORTED"),
        (HOVER, "It is not supported", "NOT_SUPPORTED"),  # the other of two
        (HOVER, "unsupported", None),
        (SPACED, "The claim is not\nsupported.", "NOT SUPPORTED"),
        (SPACED, "supported, not unsupported", "SUPPORTED"),
        (SPACED, "It isn't not supported", "SUPPORTED"),  # denied twice
        (THREE, "Not enough info", "NOT_ENOUGH_INFO"),
        (THREE, "NOT_ENOUGH_INFO", "NOT_ENOUGH_INFO"),
        (THREE, "not true", None),  # either of two others
        (THREE, "It is not true. FALSE", "REFUTES"),
    ],
)
def test_labels_are_compared_whole_the_longest_first(task: TaskSpec, output: str, want: str | None) -> None:
    assert parse(task, output).answer == want


def test_a_label_that_holds_another_is_not_it() -> None:
    assert scorer_of(HOVER) is LABEL_ACCURACY
    assert set(LABEL_ACCURACY.score("NOT_SUPPORTED", HOVER.usable(["supported"])).values()) == {0.0}
    assert set(LABEL_ACCURACY.score("SUPPORTED", HOVER.usable(["supported"])).values()) == {1.0}
