"""Verdicts read strictly, kept with what they depend on, and compared with labels by people."""

from hashlib import sha256
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.models.base import GenerationError
from eval_harness.models.fake import FakeModel
from eval_harness.protocols.frames import judge as judging
from eval_harness.protocols.frames.judge import DIGEST, PROMPT, judge, judge_prompt, judge_record, verdict_in
from eval_harness.protocols.frames.labels import read_labels, write_sheet
from eval_harness.protocols.frames.questions import Asked, Questions
from eval_harness.run.results import Results, Row, read_rows

VERDICTS = {
    "CORRECT": True,
    "Incorrect.": False,
    "**INCORRECT**": False,
    "Verdict: CORRECT": True,
    "<think>Is it CORRECT?</think>\nincorrect": False,
    "not correct": None,
    "CORRECT or INCORRECT": None,
    "The answer is correct": None,
    "CORRECT, since it says so": None,
    "partially correct": None,
    "": None,
    "<think>CORRECT": None,
}
QUESTIONS = Questions({f"q{n}": Asked(f"Question {n}?", ["six", "6"], [], 2) for n in range(1, 5)}, {})


@pytest.mark.parametrize(("output", "want"), VERDICTS.items())
def test_a_verdict_is_one_word_or_none(output: str, want: bool | None) -> None:
    assert verdict_in(output) is want


def row(id: str, answer: str | None, status: str = "ok", method: str = "oracle_rag") -> Row:
    return Row(id, "frames", "qa", "qa", "c", "test", "oracle", method, "m", status, {}, answer=answer, output="o")  # type: ignore[arg-type]


def results(folder: Path, model: FakeModel) -> Results:
    return Results(folder, judge_record({"model": {"name": "m"}}, model, 8))


def judged(rows: list[Row], model: FakeModel, folder: Path, batch: int = 2) -> dict[tuple[str, str], Row]:
    kept = results(folder, model)
    judge(rows, QUESTIONS, model, kept, 8, batch, lambda n: None)
    return {(one.id, one.method): one for one in kept.rows}


def test_each_answer_gets_a_verdict_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def say(prompt: str) -> str:
        asked.append(prompt)
        if "seven" in prompt:
            return "INCORRECT"
        return "CORRECT" if "grade: six" in prompt else "Well, it depends"

    rows = [row("q1", "six"), row("q2", "seven"), row("q3", "perhaps"), row("q1", "six", method="bm25@2")]
    found = judged(rows, FakeModel(say), tmp_path / "run")
    assert [(one.status, one.answer, one.scores) for one in found.values()] == [
        ("ok", "correct", {"judged": 1.0}),
        ("ok", "incorrect", {"judged": 0.0}),
        ("unparsed", None, {}),
        ("ok", "correct", {"judged": 1.0}),
    ]
    assert len(asked) == 3  # q1 has the same answer twice
    assert (
        found["q1", "oracle_rag"].prompt_sha256
        == sha256(judge_prompt(QUESTIONS.asked["q1"], "six").encode()).hexdigest()
    )
    judged(rows, FakeModel(lambda prompt: pytest.fail("asked again")), tmp_path / "run")


def test_a_failed_verdict_is_tried_again(tmp_path: Path) -> None:
    def fail(prompt: str) -> str:
        raise GenerationError("busy")

    assert judged([row("q1", "six")], FakeModel(fail), tmp_path / "run")["q1", "oracle_rag"].status == "error"
    again = judged([row("q1", "six")], FakeModel(lambda prompt: "CORRECT"), tmp_path / "run")
    assert again["q1", "oracle_rag"].scores == {"judged": 1.0}


def test_an_answer_too_long_for_the_judge_is_counted(tmp_path: Path) -> None:
    model = FakeModel(lambda prompt: "CORRECT", max_positions=200)
    found = judged([row("q1", "six " * 200), row("q2", "six")], model, tmp_path / "run")
    assert [one.status for one in found.values()] == ["overlength", "ok"]


def test_the_record_names_judge_and_prompt(tmp_path: Path) -> None:
    """And verdicts of another judge, or on another run, do not mix with them."""
    model = FakeModel(lambda prompt: "CORRECT")
    record = judge_record({"model": {"name": "m"}}, model, 8)
    assert (record["judge"], record["prompt_sha256"]) == ({"name": "fake"}, sha256(PROMPT.encode()).hexdigest())
    assert record["prompt_sha256"] == DIGEST
    results(tmp_path / "run", model)
    with pytest.raises(SetupError, match=r"differs in judge\.name"):
        results(tmp_path / "run", FakeModel(str, name="other"))


def test_only_answers_that_could_be_read_are_judged(tmp_path: Path) -> None:
    rows = [row("q1", "six"), row("q2", None, "unparsed"), row("q3", None, "overlength"), row("q4", "x", "error")]
    kept = Results(tmp_path / "run", {})
    kept.append(rows)
    assert [one.id for one in judging.to_judge(tmp_path / "run")] == ["q1"]
    assert len(read_rows(tmp_path / "run")) == 4


def test_a_sheet_there_and_back(tmp_path: Path) -> None:
    rows = [row("q1", "=SUM(A1)"), row("q2", "six\nseven")]
    path = tmp_path / "labels.csv"
    write_sheet(rows, QUESTIONS, path)
    text = path.read_text(encoding="utf-8")
    assert "q1,oracle_rag,Question 1?,six / 6,'=SUM(A1)," in text
    with pytest.raises(SetupError, match="has no labels"):
        read_labels(path, ["oracle_rag"])
    path.write_text(text.replace("'=SUM(A1),", "'=SUM(A1),Correct"), encoding="utf-8")
    assert read_labels(path, ["oracle_rag", "closed_book"]) == {("q1", "oracle_rag"): "correct"}


BROKEN = {
    "id,label\nq1,maybe\n": r"line 2: invalid label 'maybe'; use correct or incorrect",
    "id,method\nq1,oracle_rag\n": r"lacks the columns label",
    "id,method,label\nq1,other,1\n": r"line 2: the run has no method 'other'; available: oracle_rag",
    "id,label\nq1,yes\nq1,no\n": r"line 3: q1 \(oracle_rag\) has two different labels",
}


@pytest.mark.parametrize(("text", "message"), BROKEN.items())
def test_sheets_that_cannot_be_used_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(SetupError, match=message):
        read_labels(path, ["oracle_rag"])


def test_a_sheet_without_methods_is_of_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,label\nq1,1\nq2,false\nq3,\n")
    assert read_labels(path, ["oracle_rag"]) == {("q1", "oracle_rag"): "correct", ("q2", "oracle_rag"): "incorrect"}
    with pytest.raises(SetupError, match="the run has no method ''"):
        read_labels(path, ["oracle_rag", "closed_book"])
