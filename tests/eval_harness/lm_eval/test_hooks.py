from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from builders.errors import SetupError
from eval_harness.data.dataset import open_dataset
from eval_harness.lm_eval.hooks import VERSION, documents, scores
from eval_harness.models.fake import FakeModel
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.requests import requests
from eval_harness.run.results import Results
from eval_harness.run.run import run
from tests.eval_harness.lm_eval.conftest import write_dataset

METHODS = ("closed_book", "vanilla_rag", "oracle_rag")


def of(folder: Path, task: str, method: str, **settings: Any) -> list[dict[str, Any]]:
    subset = {"config": "1k_p75", "task": task, "method": method}
    return list(documents(subset, str(folder), VERSION, **settings)["test"])


@pytest.mark.parametrize("method", METHODS)
def test_prompts_are_those_of_a_run_for_the_instances_that_it_counts(tiny: Path, method: str) -> None:
    """Without an answer to score against, or without gold in oracle, an instance is left out."""
    plan = Plan(open_dataset(tiny), ("1k_p75",), (method,), tasks=("nq",))
    prompts = {request.instance.id: request.prompt for request in next(requests(plan, len))}
    found = {document["id"]: document["prompt"] for document in of(tiny, "nq", method)}
    assert list(found) == (["nq-1", "nq-2"] if method == "oracle_rag" else ["nq-1", "nq-3", "nq-2"])
    assert found == {id: prompts[id] for id in found}


@pytest.mark.parametrize("answer", ["Jane Austen", "It is TRUE.", "", "<think>Lima?"])
def test_scores_are_those_of_a_run(tiny: Path, tmp_path: Path, answer: str) -> None:
    plan = Plan(open_dataset(tiny), ("1k_p75",), ("vanilla_rag",))
    model = FakeModel(lambda prompt: answer)
    results = Results(tmp_path / "run", record(plan, model))
    run(plan, model, results, Progress(disable=True))
    rows = {row.id: row for row in results.rows}
    found = [document for task in ("nq", "hotpotqa", "fever", "wow") for document in of(tiny, task, "vanilla_rag")]
    assert len(found) == 6
    for document in found:
        row = rows[document["id"]]
        assert scores(document, [answer]) == row.scores | {"unparsed": float(row.status == "unparsed")}


def test_an_answer_after_a_blank_line_is_scored() -> None:
    """lm-eval's default stops at a blank line, before the answer"""
    document = {"task": "nq", "spec": '{"kind": "qa", "labels": {}, "scorer": ""}', "answers": ["x"]}
    assert scores(document, ["[3] text\n\nAnswer: x"])["subspan_em"] == 1


def test_a_relative_dataset_is_found_beside_the_task_file_and_then_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """task files and lm-eval may be in different folders"""
    write_dataset(tmp_path / "a" / "data")
    (tmp_path / "a" / "tasks").mkdir()
    source = str(tmp_path / "a" / "tasks" / "icr2_1k_p75_nq.yaml")
    monkeypatch.chdir("/")
    assert len(of(Path("../data"), "nq", "vanilla_rag", config_source=source)) == 3
    with pytest.raises(SetupError, match=r"no dataset data next to .* or in the current folder"):
        of(Path("data"), "nq", "vanilla_rag", config_source=source)
    monkeypatch.chdir(tmp_path / "a")
    assert len(of(Path("data"), "nq", "vanilla_rag", config_source=source)) == 3


def test_one_file_for_one_split_is_enough(tiny: Path) -> None:
    """there is no train split to fall back on"""
    assert [path.name for path in (tiny / "1k_p75").iterdir()] == ["test-00000-of-00001.parquet"]
    assert len(of(tiny, "fever", "closed_book")) == 1


def test_files_of_another_version_are_refused(tiny: Path) -> None:
    subset = {"config": "1k_p75", "task": "nq", "method": "closed_book"}
    with pytest.raises(SetupError, match=f"version 0.9 and icr2 now writes {VERSION}; write the files again"):
        documents(subset, str(tiny), "0.9")


def test_a_task_without_instances_is_named(tiny: Path) -> None:
    with pytest.raises(SetupError, match="no musique instance that closed_book can be scored on"):
        of(tiny, "musique", "closed_book")


def test_a_task_that_does_not_fit_the_model_is_refused(
    make_dataset: Callable[..., Path], tiny: Path, chat_folder: Path
) -> None:
    """before anything is asked"""
    assert of(tiny, "nq", "vanilla_rag", pretrained=str(chat_folder))
    with pytest.raises(SetupError, match=r"a prompt needs .* takes 128"):
        of(tiny, "nq", "vanilla_rag", pretrained=str(chat_folder), max_length=128)
