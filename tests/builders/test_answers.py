"""Which answers of a task can be scored, and which questions are excluded without one."""

from collections import Counter

import pytest

from builders.answers import answerable
from builders.errors import SetupError
from builders.schema import Question
from builders.tasks import KindName, TaskSpec

HOVER = TaskSpec("hover", "fact", {"SUPPORTED": "SUPPORTED", "NOT_SUPPORTED": "NOT SUPPORTED"})


def asked(id: str, *answers: str, task: str = "hover") -> Question:
    return Question(id, task, f"claim {id}", list(answers), "text", [], 1, [])


def test_answers_of_claims_are_labels_in_the_spelling_of_the_task() -> None:
    counts = Counter[str]()
    claims = [asked("1", " not_supported "), asked("2", "Supported", "SUPPORTED", "NOT_SUPPORTED")]
    found = answerable(claims, HOVER, counts)
    assert [(claim.id, claim.answers, claim.answer_kind) for claim in found] == [
        ("1", ["NOT_SUPPORTED"], "label"),
        ("2", ["SUPPORTED", "NOT_SUPPORTED"], "label"),
    ]
    assert +counts == {}


def test_an_answer_that_is_no_label_is_counted_and_left_out() -> None:
    """The word of the prompt is not a label, and neither is a part of one."""
    counts = Counter[str]()
    claims = [asked("1", "NOT SUPPORTED", "SUPPORTED"), asked("2", "NOT ENOUGH INFO"), asked("3", "NOT", "no")]
    assert answerable(claims, HOVER, counts) == [claims[0]._replace(answers=["SUPPORTED"], answer_kind="label")]
    assert counts == {"not_a_label": 4, "no_label": 2}


def test_a_task_whose_answers_are_none_of_its_labels_is_refused() -> None:
    with pytest.raises(SetupError) as error:
        answerable([asked("1", "SUPPORTS"), asked("2", "REFUTES")], HOVER, Counter())
    assert str(error.value) == (
        "tasks.hover: no answer can be scored; the first is 'SUPPORTS', "
        "wanted one of its labels SUPPORTED, NOT_SUPPORTED"
    )


def test_a_task_whose_answers_are_no_text_is_refused() -> None:
    """Punctuation is empty once normalised, and `<unk>` means no answer."""
    nothing = [asked("1", "?!", task="t"), asked("2", "<unk>", "...", task="t")]
    with pytest.raises(SetupError, match=r"^tasks.t: no answer can be scored; the first is '\?!', wanted text$"):
        answerable(nothing, TaskSpec("t", "qa"), Counter())


@pytest.mark.parametrize("kind", ["qa", "set", "needle", "dialogue"])
def test_answers_that_are_text_stay_as_they_are(kind: KindName) -> None:
    """One that cannot be scored is flagged where its row is written."""
    counts = Counter[str]()
    questions = [asked("1", "Oslo", "?!"), asked("2", "?!"), asked("3", "SUPPORTS")]
    assert answerable(questions, TaskSpec("t", kind), counts) == questions
    assert +counts == {}


def test_a_file_without_questions_is_no_mistake_of_its_labels() -> None:
    assert answerable([], HOVER, Counter()) == []
