import pytest

from eval_harness.parsing.answers import Parsed, parse
from tests.eval_harness.specs import FEVER, HOTPOTQA, NQ


@pytest.mark.parametrize(
    ("output", "want"),
    [
        ("Answer:\nParis", Parsed("Paris")),  # an answer on the line after its cue
        ("Answer: Paris\nAnswer: Rome", Parsed("Paris", 2)),  # an answer on the line after its cue
        ("Answer:\nAnswer: Rome", Parsed("Rome")),
        ("**Answer:** Paris", Parsed("Paris")),
        ("  Paris is it.\n", Parsed("Paris is it.")),
        ("The question and answer: both", Parsed("The question and answer: both")),
        ("Answer: -5 °C", Parsed("-5 °C")),
        ("", Parsed(None, 0)),
        (" \n", Parsed(None, 0)),
        ("Answer:", Parsed(None, 0)),
    ],
)
def test_answers(output: str, want: Parsed) -> None:
    """An answer on the line after its cue."""
    assert parse(NQ, output) == want


@pytest.mark.parametrize(
    ("output", "want"),
    [
        ("<think>Paris or Rome?</think> Rome", Parsed("Rome")),
        ("Paris or Rome?</think>\nAnswer: Rome", Parsed("Rome")),
        ("<think>a</think> Rome <think>b</think>", Parsed("Rome")),
        ("<think>Paris", Parsed(None, 0, truncated=True)),
        ("<think>a</think><think>Paris", Parsed(None, 0, truncated=True)),
        ("<think>Paris</think>", Parsed(None, 0)),
    ],
)
def test_reasoning_is_no_answer(output: str, want: Parsed) -> None:
    """Thoughts are not the answer."""
    assert parse(HOTPOTQA, output) == want


@pytest.mark.parametrize(
    ("output", "want"),
    [
        ("TRUE", "SUPPORTS"),
        ("The claim is false.", "REFUTES"),
        ("Judgement: True, not FALSE", "SUPPORTS"),
        ("refutes", "REFUTES"),
        ("The claim is not true.", "REFUTES"),
        ("It isn’t FALSE", "SUPPORTS"),
        ("It is not so; true", "SUPPORTS"),
        ("untrue", None),
        ("I cannot say", None),
        ("<think>TRUE</think>FALSE", "REFUTES"),
    ],
)
def test_labels(output: str, want: str | None) -> None:
    """The case of a label."""
    assert parse(FEVER, output).answer == want
