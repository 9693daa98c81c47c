"""Outputs under the citation contract: the answer without its citations, and the numbers cited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.parsing.answers import Parsed, parse
from eval_harness.scoring.qa import QA
from tests.eval_harness.specs import FEVER, NQ, SPECS

NUMBERS = st.lists(st.integers(1, 999).map(str), max_size=4)


@pytest.mark.parametrize(
    ("output", "answer", "evidence"),
    [
        ("Answer: X\nEvidence: [3], [7]", "X", "3 7"),
        ("Paris\nEvidence: [3], [7]", "Paris", "3 7"),  # the prompt ends with the answer's cue
        ("Answer: X\nEvidence: [3, 7]", "X", "3 7"),  # every way of citing numbers
        ("X\nEvidence: [3][7]", "X", "3 7"),  # every way of citing numbers
        ("X\nIDs: 3; 7", "X", "3 7"),  # every way of citing numbers
        ("X\nID: 37", "X", "37"),  # every way of citing numbers
        ("X\nEvidence IDs: 3 and 7", "X", "3 7"),
        ("**Answer:** X\n**Evidence:** [ID: 3], [ID: 7]", "X", "3 7"),
        ("X\nEvidence:\n- 3\n- passage 7\nIn 1990 it was so.", "X", "3 7"),
        ("X\nSources: [7], [3], [7]", "X", "7 3"),  # in order, without repeats
        ("X\nEvidence: [3] (of 1990)", "X", "3"),
        ("X\nEvidence: [3]\n\nSee also [9].", "X", "3"),
        ("X\nEvidence: [3], [7", "X", "3"),  # broken off: the second may have had more digits
        ("X\nEvidence: none", "X", ""),
        ("X", "X", ""),
        ("Paris [3], the capital [7].", "Paris, the capital.", "3 7"),
        ("In 1990 [3]", "In 1990", "3"),
        ("[3] text\n\nAnswer: x", "x", "3"),  # an answer after a blank line
        ("[3], [7]\nAnswer: x", "x", "3 7"),
        ("Evidence: 3, 7\nAnswer: x", "x", "3 7"),
        ("ID: 3\nTitle: T 1990\nContext: 5 of them\n\nAnswer: x", "x", "3"),
        ("It follows from [3].\nEvidence: [3]\nAnswer: x", "x", "3"),
        ("Evidence: [3]\nAnswer: x\nEvidence: [3]", "x", "3"),
        ("Answer:\nParis\nEvidence: [3]", "Paris", "3"),  # an answer on the line after its cue
        ("Paris\nEvidence: [3]\nQuestion: of 1990\nAnswer: Rome\nEvidence: [9]", "Paris", "3"),  # one more question
        ("Answer: Paris\nEvidence: [3]\nQuestion: of 1990\nAnswer: Rome\nEvidence: [9]", "Paris", "3"),
        ("<think>Rome [9]?</think> Paris\nEvidence: [3]", "Paris", "3"),  # thoughts are not the answer
        ("Evidence: [3]", None, "3"),
        ("", None, ""),
    ],
)
def test_a_citing_output(output: str, answer: str | None, evidence: str) -> None:
    """Numbers however they are cited, answers on the next line or after a blank one; thoughts are not the answer."""
    found = parse(NQ, output, cites=True)
    assert (found.answer, found.evidence) == (answer, tuple(evidence.split()))


@pytest.mark.parametrize(
    ("output", "label", "evidence"),
    [
        ("TRUE\nEvidence: [3]", "SUPPORTS", ("3",)),
        ("[3]\nJudgement: FALSE", "REFUTES", ("3",)),
        ("Evidence: [3] says it is true\nJudgement: FALSE", "REFUTES", ("3",)),
        ("I cannot say.\nEvidence: [3]", None, ("3",)),
    ],
)
def test_a_citing_label(output: str, label: str | None, evidence: tuple[str, ...]) -> None:
    assert parse(FEVER, output, cites=True) == Parsed(label, int(label is not None), evidence=evidence)


def test_two_answers_and_one_list_of_evidence() -> None:
    """An answer on the line after its cue."""
    found = parse(NQ, "Answer: Paris\nAnswer: Rome\nEvidence: [3]", cites=True)
    assert found == Parsed("Paris", 2, evidence=("3",))


def test_reasoning_that_never_ends_cites_nothing() -> None:
    """Thoughts are not the answer."""
    assert parse(NQ, "<think>Paris [3]", cites=True) == Parsed(None, 0, truncated=True, evidence=())


def test_without_the_contract_brackets_are_text() -> None:
    assert parse(NQ, "Paris [3]\nEvidence: [7]") == Parsed("Paris [3]\nEvidence: [7]")


def test_what_is_only_thought_scores_nothing() -> None:
    """Thoughts are not the answer."""
    scorer, answer = QA, parse(NQ, "<think>Paris or Rome?</think> Rome").answer
    assert answer is not None
    assert scorer.score(answer, ["Paris"])["subspan_em"] == 0
    assert scorer.score(answer, ["Rome"])["subspan_em"] == 1


@given(st.sampled_from(["Paris", "New York", "x 1990"]), NUMBERS, st.sampled_from(["], [", ", ", "; ", "]["]))
def test_the_contract_is_read_back(answer: str, numbers: list[str], between: str) -> None:
    listed = f"[{between.join(numbers)}]" if numbers else "none"
    found = parse(NQ, f"Answer: {answer}\nEvidence: {listed}", cites=True)
    assert found == Parsed(answer, evidence=tuple(dict.fromkeys(numbers)))


PIECES = st.lists(st.sampled_from(["Answer:", "Evidence:", "Question:", "[3]", "[3, 7", "\n", "x", "<think>"]))


@given(st.text() | PIECES.map("".join))
def test_any_output_can_be_read(output: str) -> None:
    for task in ("nq", "fever", "wow"):
        found = parse(SPECS[task], output, cites=True)
        assert found.evidence is not None
        assert len(set(found.evidence)) == len(found.evidence)
        assert all(number.isdecimal() for number in found.evidence)
        assert found.answer is None or found.answer.strip()
        assert (found.answer is None) == (found.n_answers == 0)
        assert parse(SPECS[task], output).evidence is None
