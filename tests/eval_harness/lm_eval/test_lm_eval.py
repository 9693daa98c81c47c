"""The task files in lm-eval itself: what it finds, asks, scores and averages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from builders.errors import SetupError
from builders.manifest import read_manifest
from eval_harness.data.dataset import open_dataset
from eval_harness.lm_eval.demo import demo_tasks
from eval_harness.lm_eval.write import source_of, write_tasks
from eval_harness.models import load_model
from eval_harness.models.hf import HfModel
from eval_harness.models.local import find_checkpoint
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.results import Results, Row
from eval_harness.run.run import run
from tests.eval_harness.conftest import instance
from tests.eval_harness.lm_eval.conftest import write_dataset

pytest.importorskip("lm_eval", reason="lm-eval is not installed; pip install 'icr2[lm-eval]'")

SUFFIXES = {"vanilla_rag": "", "closed_book": "_closed_book", "oracle_rag": "_oracle"}
# A checkpoint may ask for a repetition penalty; `icr2 eval` leaves it aside, and lm-eval has to be told to.
AS_WE_DECODE = {"repetition_penalty": 1.0}


def task_folder(dataset: Path, out: Path) -> Path:
    write_tasks(source_of(read_manifest(dataset), str(dataset)), out)
    return out


def evaluated(folder: Path, tasks: Sequence[str], model: Any, arguments: dict[str, Any], **settings: Any) -> Any:
    """lm-eval's results; its own tasks are not looked for, which takes ten seconds."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(folder), include_defaults=False, metadata=arguments)
    return simple_evaluate(
        model, arguments, tasks=list(tasks), task_manager=manager, bootstrap_iters=0, device="cpu", **settings
    )


def our_rows(dataset: Path, model: str, method: str, out: Path, **fields: Any) -> dict[str, Row]:
    plan = Plan(open_dataset(dataset), ("1k_p75",), (method,), **fields)
    loaded = load_model(model, "float32")
    results = Results(out, record(plan, loaded))
    run(plan, loaded, results, Progress(disable=True))
    return {row.id: row for row in results.rows if row.status in ("ok", "unparsed")}


def assert_same_items(results: Any, rows: dict[str, Row]) -> None:
    samples = {sample["doc"]["id"]: sample for group in results["samples"].values() for sample in group}
    assert samples.keys() == rows.keys()
    for id, row in rows.items():
        assert samples[id]["filtered_resps"] == [row.output], id
        assert {metric: samples[id][metric] for metric in row.scores} == row.scores, id
        assert samples[id]["unparsed"] == (row.status == "unparsed"), id


def test_tasks_and_groups_are_listed_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """lm-eval runs in any folder: the task files of the demo name nothing relative to it"""
    from lm_eval.tasks import TaskManager

    monkeypatch.chdir(tmp_path)
    manager = TaskManager(include_path=str(demo_tasks()), include_defaults=False)
    assert {"icr2", "icr2_1k", "icr2_32k_oracle", "icr2_1k_p75", "icr2_loft_32k"} <= set(manager.all_groups)
    assert {"icr2_1k_p75_nq", "icr2_32k_p100_closed_book_wow", "icr2_loft_4k_fever"} <= set(manager.all_subtasks)
    assert len(manager.all_subtasks) == 22 * 3 * 4


@pytest.mark.parametrize("kind", ["chat", "base"])
@pytest.mark.parametrize("method", SUFFIXES)
def test_every_item_has_the_output_and_the_scores_of_a_run(
    kind: str, method: str, tiny: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A random model whose outputs depend strongly on the prompt: one other token would show."""
    model = str(request.getfixturevalue(f"{kind}_folder"))
    results = evaluated(
        task_folder(tiny, tmp_path / "tasks"),
        [f"tiny_1k_p75{SUFFIXES[method]}"],
        "hf",
        {"pretrained": model, "dtype": "float32"},
        apply_chat_template=kind == "chat",
        gen_kwargs=AS_WE_DECODE,
    )
    assert_same_items(results, our_rows(tiny, model, method, tmp_path / "run"))


def test_a_task_that_does_not_fit_refuses_to_start(tiny: Path, tmp_path: Path, chat_folder: Path) -> None:
    """lm-eval would cut the prompt from the left, the instruction first"""
    arguments = {"pretrained": str(chat_folder), "max_length": 150, "dtype": "float32"}
    with pytest.raises(SetupError, match=r"a prompt needs .* takes 150"):
        evaluated(task_folder(tiny, tmp_path / "tasks"), ["tiny_1k_p75_wow"], "hf", arguments)


def answering(answer: Callable[[str], str]) -> Any:
    """A model of lm-eval that answers with a function of the prompt, and keeps what it was asked."""
    from lm_eval.api.model import LM

    class Answering(LM):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[tuple[str, dict[str, Any]]] = []

        def generate_until(self, requests: Any) -> list[str]:
            self.asked += [request.args for request in requests]
            return [answer(request.args[0]) for request in requests]

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        def loglikelihood_rolling(self, requests: Any) -> Any:
            raise NotImplementedError

    return Answering()


def test_a_groups_value_is_the_macro_average_and_says_so(tmp_path: Path) -> None:
    """100 items at 0.5 and 10 at 1.0 are 0.75 by task, 0.545 by item; each task keeps its own row"""
    rows = [instance(f"nq-{n}", "nq", f"q {n}", ["yes" if n % 2 else "no"], [0], ["t"]) for n in range(100)]
    rows += [instance(f"hotpotqa-{n}", "hotpotqa", f"q {n}", ["yes"], [0], ["t"]) for n in range(10)]
    dataset = write_dataset(tmp_path / "data", rows, ("1k_p75",))
    results = evaluated(task_folder(dataset, tmp_path / "tasks"), ["tiny_1k_p75"], answering(lambda p: "yes"), {})
    assert results["groups"]["tiny_1k_p75"]["alias"] == "tiny_1k_p75 (macro)"
    assert results["groups"]["tiny_1k_p75"]["subspan_em,none"] == 0.75
    assert results["results"]["tiny_1k_p75_nq"]["subspan_em,none"] == 0.5
    assert results["n-samples"]["tiny_1k_p75_nq"] == {"original": 100, "effective": 100}
    assert results["versions"]["tiny_1k_p75_nq"] == "1.2"


def test_what_is_asked_of_a_model_and_the_share_that_cannot_be_read(tiny: Path, tmp_path: Path) -> None:
    """the limits by kind of task, greedy, and no stop at a blank line"""
    model = answering(lambda prompt: "no idea" if "Claim" in prompt else "[1] text\n\nAnswer: Lima")
    results = evaluated(task_folder(tiny, tmp_path / "tasks"), ["tiny_4k_p0"], model, {})
    limits = {settings["max_gen_toks"] for _, settings in model.asked}
    assert limits == {64, 32, 128}
    assert not [stop for _, settings in model.asked for stop in settings["until"] if not stop.strip()]
    assert {settings["do_sample"] for _, settings in model.asked} == {False}
    assert results["results"]["tiny_4k_p0_fever"]["unparsed,none"] == 1
    assert results["results"]["tiny_4k_p0_nq"]["subspan_em_strict,none"] == pytest.approx(1 / 3)


@pytest.mark.slow
def test_the_small_model_reads_the_same_tokens(demo: Path) -> None:
    """All 120 test instances under the real template; equal tokens to a greedy model are equal outputs."""
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    checkpoint = find_checkpoint("smollm2")
    ours = HfModel(checkpoint.folder, "smollm2", "r", "float32")
    theirs = HFLM(pretrained=ours.network, tokenizer=str(checkpoint.folder), device="cpu")
    manager = TaskManager(include_path=str(demo_tasks()), include_defaults=False, metadata={"dataset": str(demo)})
    tasks = manager.load(["icr2_1k_p75"])["tasks"]
    seen = 0
    for task in tasks.values():
        task.set_config("num_fewshot", 0)
        task.build_all_requests(apply_chat_template=True, chat_template=theirs.apply_chat_template)
        for request in task.instances:
            ids, _ = theirs.tok_batch_encode([request.args[0]])
            assert ids[0].tolist() == ours.encode(request.doc["prompt"])
            seen += 1
    assert seen == 120
