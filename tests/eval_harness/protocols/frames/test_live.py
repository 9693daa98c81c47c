"""FRAMES questions over real pages: built, and answered by a real model."""

from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from builders.load_recipe import load_recipe
from builders.pipeline import run_build
from builders.synthetic.base import SyntheticRecipe
from eval_harness.data.dataset import open_dataset
from eval_harness.methods.limits import Limits
from eval_harness.models import load_model
from eval_harness.models.fake import FakeModel
from eval_harness.protocols.frames import document
from eval_harness.protocols.frames.plan import FramesPlan
from eval_harness.protocols.frames.questions import keep_questions
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.results import Results
from eval_harness.run.run import run

CONFIG = "frames_1k"


@pytest.fixture
def built(shared_data: Path, tmp_path: Path) -> Path:
    """The first three questions whose articles kilt_mini has: frames-3, -94 and -105."""
    settings = [
        f"data={shared_data}",
        "questions.path=frames/frames_test.jsonl",
        "knowledge.path=kilt_mini/kilt_knowledgesource.json",
        "knowledge.rows=27063",
        "lengths=[1k]",
    ]
    recipe, folder = load_recipe("frames", settings, limit=3)
    assert isinstance(recipe, SyntheticRecipe)
    run_build(recipe, folder, tmp_path / "icr2", tmp_path / "work", 1, Console(quiet=True))
    return tmp_path / "icr2"


def test_the_harness_runs_on_the_config(built: Path, tmp_path: Path) -> None:
    plan = Plan(open_dataset(built), (CONFIG,), ("closed_book", "vanilla_rag", "oracle_rag"))
    model = FakeModel(lambda prompt: f"{prompt.count('ID: ')} passages")
    results = Results(tmp_path / "run", record(plan, model))
    run(plan, model, results, Progress(disable=True))
    assert Counter(row.status for row in results.rows) == {"ok": 9}
    shown = {(row.id, row.method): int((row.answer or "").split()[0]) for row in results.rows}
    gold = {"frames-3": 3, "frames-94": 2, "frames-105": 2}  # pages of kilt_mini are introductions of a passage or more
    for id, pages in gold.items():
        assert shown[id, "closed_book"] == 0
        assert pages <= shown[id, "oracle_rag"] < shown[id, "vanilla_rag"]


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_a_real_model_answers_without_an_error(built: Path, tmp_path: Path) -> None:
    dataset, model = open_dataset(built), load_model("smollm2")
    limits = Limits({"qa": 16})
    methods = ("closed_book", "retrieved_bm25@2", "oracle_rag", "multistep@2x2x2", "multistep@2x2x2+plan")
    plan = FramesPlan(dataset, (CONFIG,), methods, limit=1, limits=limits, query_tokens=32)
    plan = plan.fitting(model.count, model.max_positions)
    results = Results(tmp_path / "run", record(plan, model) | plan.facts())
    run(plan, model, results, Progress(disable=True))
    assert Counter(row.status for row in results.rows).keys() <= {"ok", "unparsed"}
    logs = [row.steps_log for row in results.rows if row.method.startswith("multistep")]
    assert [log[-1]["stop"] in ("rounds", "unchanged") for log in logs if log] == [True, True]
    keep_questions(dataset, CONFIG, "test", tmp_path / "run")
    made, _, _ = document(tmp_path / "run", built)
    assert [section.name for section in made.sections][:3] == ["frames", "types", "articles"]
