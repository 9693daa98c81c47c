import pytest

from eval_harness.parsing.answers import parse
from eval_harness.scoring.label import LABEL_ACCURACY
from tests.eval_harness.specs import FEVER


def test_labels() -> None:
    """The label is read, not its case; KILT compares letters."""
    assert LABEL_ACCURACY.score("SUPPORTS", ["SUPPORTS"]) == {"label_accuracy": 1, "label_accuracy_kilt": 1}
    assert LABEL_ACCURACY.score("supports", ["SUPPORTS"]) == {"label_accuracy": 1, "label_accuracy_kilt": 0}
    assert LABEL_ACCURACY.score("REFUTES", ["SUPPORTS"]) == {"label_accuracy": 0, "label_accuracy_kilt": 0}


def test_a_label_as_read_from_an_output_is_right_in_both() -> None:
    label = parse(FEVER, "supports")[0]
    assert label is not None
    assert set(LABEL_ACCURACY.score(label, ["SUPPORTS"]).values()) == {1.0}


@pytest.mark.parametrize(
    ("answers", "usable"),
    [(["supports"], ["SUPPORTS"]), (["NOT ENOUGH INFO"], []), ([], []), (["<unk>"], []), (["", " ?! "], [])],
)
def test_usable(answers: list[str], usable: list[str]) -> None:
    """No answer to score against."""
    assert FEVER.usable(answers) == usable
