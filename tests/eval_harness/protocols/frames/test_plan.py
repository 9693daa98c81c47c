"""A run of all methods with a model that answers from what it is shown alone."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.progress import Progress

from builders.errors import SetupError
from eval_harness.data.dataset import Dataset
from eval_harness.methods.limits import Limits
from eval_harness.models.fake import FakeModel
from eval_harness.protocols.frames.plan import FramesPlan
from eval_harness.run.record import record
from eval_harness.run.results import Results, Row, read_rows
from eval_harness.run.run import run
from tests.eval_harness.protocols.frames.conftest import reader
from tests.eval_harness.specs import FEVER

METHODS = ("closed_book", "retrieved_bm25@2", "oracle_rag", "multistep@3x2x1", "multistep@3x2x1+plan")


def plan_of(dataset: Dataset, model: FakeModel, *methods: str, **fields: object) -> FramesPlan:
    plan = FramesPlan(dataset, ("frames_1k",), methods or METHODS, **fields)  # type: ignore[arg-type]
    return plan.fitting(model.count, model.max_positions)


def rows_of(plan: FramesPlan, model: FakeModel, folder: Path) -> dict[tuple[str, str], Row]:
    results = Results(folder, record(plan, model) | plan.facts())
    run(plan, model, results, Progress(disable=True))
    return {(row.id, row.method): row for row in results.rows}


def test_conditions(dataset: Dataset, tmp_path: Path) -> None:
    model = FakeModel(reader)
    found = rows_of(plan_of(dataset, model), model, tmp_path / "run")
    assert {row.status for row in found.values()} == {"ok"}
    right = {key for key, row in found.items() if row.scores["subspan_em_strict"]}
    assert not {id for id, method in right if method == "closed_book"}
    assert {id for id, method in right if method == "oracle_rag"} == {"q1", "q2", "q3", "q4"}
    # One search for q1 finds Emma and whatever else is near; her author's page is found by its name in a second round.
    log = found["q1", "multistep@3x2x1"].steps_log
    assert log is not None
    assert [step["new"] for step in log][:2] == [["emma"], ["austen"]]
    assert [step["recall"] for step in log][:2] == [0.5, 1]
    assert ("q1", "multistep@3x2x1") in right
    assert found["q1", "multistep@3x2x1"].evidence == ["emma", "austen"]
    assert found["q1", "multistep@3x2x1"].scores["evidence_recall"] == 1
    assert found["q1", "closed_book"].evidence is None


def test_oracle_shows_gold_articles_whole_and_nothing_else(dataset: Dataset, tmp_path: Path) -> None:
    prompts: list[str] = []

    def keep(prompt: str) -> str:
        prompts.append(prompt)
        return "x"

    model = FakeModel(keep)
    rows_of(plan_of(dataset, model, "oracle_rag", limit=1), model, tmp_path / "run")
    (prompt,) = prompts
    assert "Context: Emma is a novel by Jane Austen.\nIt was printed in London by John Murray.\n" in prompt
    assert prompt.count("ID: ") == 2 and "Iron" not in prompt


def test_what_bm25_shows_is_scored_by_articles(dataset: Dataset, tmp_path: Path) -> None:
    """q2: lima and peru are gold; both hold its words most."""
    model = FakeModel(reader)
    row = rows_of(plan_of(dataset, model, "retrieved_bm25@2"), model, tmp_path / "run")["q2", "retrieved_bm25@2"]
    assert sorted(row.evidence or ()) == ["lima", "peru"]
    assert (row.scores["evidence_recall"], row.scores["retrieval_recall"]) == (1, 1)
    assert row.answer == "Rimac"


def test_a_stopped_run_goes_on_and_keeps_its_steps(dataset: Dataset, tmp_path: Path) -> None:
    model = FakeModel(reader)
    plan = plan_of(dataset, model, "multistep@3x2x1")
    whole = rows_of(plan, model, tmp_path / "run")
    lines = (tmp_path / "run" / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "run" / "results.jsonl").write_text("".join(lines[:2]))
    again = rows_of(plan, model, tmp_path / "run")
    timeless = [
        {key: replace(row, latency_s=None, steps_s=None) for key, row in rows.items()} for rows in (whole, again)
    ]
    assert timeless[0] == timeless[1]
    assert all(row.steps_log for row in read_rows(tmp_path / "run"))


def test_articles_too_long_for_the_model_are_cut_or_overlength(dataset: Dataset, tmp_path: Path) -> None:
    """Each of the two articles of q1 has two passages; the second ones have 8 and 4 words."""
    limits = Limits({"qa": 8})

    def oracle(room: int, name: str) -> Row:
        model = FakeModel(reader, max_positions=room + 8)
        plan = plan_of(dataset, model, "oracle_rag", limit=1, limits=limits)
        return rows_of(plan, model, tmp_path / name)["q1", "oracle_rag"]

    words = oracle(999, "whole").n_prompt_tokens or 0
    first = [{"n_articles": 2, "n_cut": 2, "n_left_out": 0, "passages_each": 1}]
    assert oracle(words, "fits").steps_log == [first[0] | {"n_cut": 0, "passages_each": None}]
    assert oracle(words - 1, "cut").steps_log == oracle(words - 12, "cut more").steps_log == first
    long = oracle(words - 13, "long")
    assert (long.status, long.output, long.scores) == ("overlength", None, {})


def test_queries_that_fill_the_model_are_refused(dataset: Dataset) -> None:
    model = FakeModel(reader, max_positions=200)
    with pytest.raises(SetupError, match=r"256 query tokens leave none for a prompt in 200 positions"):
        plan_of(dataset, model, "multistep@1x1x1+plan").settings  # noqa: B018


@pytest.mark.parametrize(
    "name", ["naive", "bm25@2", "retrieved_bm25", "retrieved_bm25@0", "multistep@2x2", "multistep@2x2x2+cot"]
)
def test_unknown_methods_are_refused(dataset: Dataset, name: str) -> None:
    with pytest.raises(
        SetupError, match=r"no method .*; available: closed_book, retrieved_bm25@K, oracle_rag, multistep@"
    ):
        plan_of(dataset, FakeModel(reader), name).settings  # noqa: B018


def test_articles_of_another_source_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text('{"wikipedia_id": "1", "wikipedia_title": "T", "text": ["T", "words"]}')
    plan = plan_of(dataset, FakeModel(reader), source=f"kilt={path}")
    with pytest.raises(
        SetupError, match="has no gold article of frames_1k; give the knowledge source that it was built from"
    ):
        plan.instances("frames_1k")


def test_the_record_says_what_was_searched_and_no_folder(dataset: Dataset) -> None:
    model = FakeModel(reader)
    plan = plan_of(dataset, model)
    facts = record(plan, model) | plan.facts()
    assert (facts["protocol"], facts["articles"]["n_articles"], facts["articles"]["index"]) == ("frames", 8, "bm25")
    assert facts["query_tokens"] == {"vanilla": 96, "plan": 256}
    assert len(facts["query_prompts_sha256"]) == 64
    assert str(dataset.folder) not in str(facts)


def test_tasks_that_ask_no_question_are_refused(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_harness.run.plan import Plan

    instances = Plan.instances(plan_of(dataset, FakeModel(reader)), "frames_1k")
    monkeypatch.setattr(Plan, "instances", lambda self, config: [one._replace(spec=FEVER) for one in instances])
    with pytest.raises(SetupError, match="fever: not a task of questions with one answer; choose others with --task"):
        plan_of(dataset, FakeModel(reader)).instances("frames_1k")
