"""Answers over Q and M: chosen on one half with heads of the other, the best of them used by `rap` alone."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from builders.errors import SetupError
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.sweep import Probed, sweep
from eval_harness.models.base import Generation, GenerationError
from eval_harness.probing.heads import Cell, Heads, Setting
from eval_harness.probing.heads_file import read_heads
from tests.eval_harness.probing.test_probe import run
from tests.eval_harness.specs import SPECS


class Echo:
    """Answers with every number that stands in the passages; fails where it reads `fail`."""

    name = "echo"
    max_positions = 1_000_000

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, prompt: str) -> int:
        return len(prompt)

    def describe(self) -> dict[str, str]:
        return {}

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        self.asked += prompts
        if any("fail" in prompt for prompt in prompts):
            raise GenerationError("told to")
        texts = [line.removeprefix("Context: ") for p in prompts for line in [_contexts(p)]]
        return [Generation(text, 1, 1, False) for text in texts]


def _contexts(prompt: str) -> str:
    return " ".join(line.removeprefix("Context: ") for line in prompt.splitlines() if line.startswith("Context:"))


def instance(id: str, gold: int, task: str = "nq", answers: Sequence[str] = ("x",), query: str = "q") -> Instance:
    passages = [Passage(f"{id}{at}", "t", "x" if at == gold else "y", "gold") for at in range(4)]
    return Instance(id, SPECS[task], query, list(answers), passages, [gold], id)


def scores(*heads: Sequence[float]) -> torch.Tensor:
    """One layer of heads over four passages."""
    return torch.tensor([heads], dtype=torch.float32)


# Gold is passage 1. Head 0 puts it first, head 1 third, in the first half; in the second half it is the other way.
FIRST = scores([0.1, 0.9, 0.2, 0.3], [0.9, 0.2, 0.5, 0.1])
SECOND = scores([0.9, 0.2, 0.5, 0.1], [0.1, 0.9, 0.2, 0.3])


def test_each_half_is_answered_with_the_heads_of_the_other() -> None:
    """Heads of an instance's own half would find gold each time; those of the other half never do at Q=M=1."""
    probed = [Probed(instance("a", 1), FIRST), Probed(instance("b", 1), SECOND)]
    cells, left_out = sweep(Echo(), probed, [0], [1, 2], [1, 3], "en")
    assert left_out == {"unscorable": 0, "error": 0}
    assert {(cell.q, cell.m): (cell.score, cell.evidence_recall, cell.n_passages) for cell in cells} == {
        (1, 1): (0.0, 0.0, 1.0),
        (1, 3): (1.0, 1.0, 3.0),  # the wrong head has gold among its three
        (2, 1): (1.0, 1.0, 2.0),
        (2, 3): (1.0, 1.0, 4.0),
    }
    by_setting = {(cell.q, cell.m): cell for cell in cells}
    assert by_setting[1, 3].evidence_precision == pytest.approx(1 / 3)
    assert by_setting[2, 1].all_gold == 1.0


@pytest.mark.parametrize(
    ("language", "metric", "score", "chosen"),
    [("en", "subspan_em", 0.0, Setting(1, 1)), ("th", "subspan_em_strict", 1.0, Setting(1, 3))],
)
def test_the_headline_of_the_language_chooses(language: str, metric: str, score: float, chosen: Setting) -> None:
    """Gold says 1000, which is the answer 1,000.0 to the strict score alone, and is among three passages only."""
    probed = []
    for one in (
        Probed(instance("a", 1, answers=["1,000.0"]), FIRST),
        Probed(instance("b", 1, answers=["1,000.0"]), SECOND),
    ):
        passages = [p._replace(text="1000" if p.text == "x" else p.text) for p in one.instance.passages]
        probed.append(one._replace(instance=one.instance._replace(passages=passages)))
    cells, _ = sweep(Echo(), probed, [0], [1], [1, 3], language)
    assert {(cell.m, cell.metric): cell.score for cell in cells} == {(1, metric): 0.0, (3, metric): score}
    assert Heads([0], {1: [[0.0]]}, 2, {}, tuple(cells)).tuned()["nq"] == chosen


def test_equal_choices_are_answered_once() -> None:
    model = Echo()
    same = scores([0.1, 0.9, 0.2, 0.3], [0.1, 0.9, 0.2, 0.3])
    sweep(model, [Probed(instance("a", 1), same), Probed(instance("b", 1), same)], [0], [1, 2], [1], "en")
    assert len(model.asked) == 2


def test_what_cannot_be_scored_or_answered_is_left_out_everywhere_and_counted() -> None:
    probed = [
        Probed(instance("a", 1), FIRST),
        Probed(instance("b", 1), FIRST),
        Probed(instance("c", 1, answers=()), FIRST),
        Probed(instance("d", 1, query="fail"), FIRST),
    ]
    cells, left_out = sweep(Echo(), probed, [0], [1], [1], "en")
    assert left_out == {"unscorable": 1, "error": 1}
    assert [(cell.n, cell.score) for cell in cells] == [(2, 1.0)]


def test_halves_take_from_every_task_and_one_instance_is_not_enough() -> None:
    with pytest.raises(SetupError, match=r"needs two instances of each task.* nq: one"):
        sweep(Echo(), [Probed(instance("a", 1), FIRST)], [0], [1], [1], "en")
    tasks = ("nq", "wow", "nq", "wow")  # as they are dealt in turn
    probed = [Probed(instance(str(at), 1, task=task), FIRST) for at, task in enumerate(tasks)]
    cells, _ = sweep(Echo(), probed, [0], [1], [1], "en")
    assert {cell.task: cell.n for cell in cells} == {"nq": 2, "wow": 2}


def cell(task: str, q: int, m: int, score: float, passages: float = 1.0) -> Cell:
    return Cell(task, q, m, 10, "subspan_em", score, 0.5, 0.5, passages, 0.5)


def test_the_best_of_equal_settings_keeps_the_fewest_passages() -> None:
    cells = (
        cell("nq", 1, 1, 0.4),
        cell("nq", 2, 2, 0.6, passages=3),
        cell("nq", 4, 1, 0.6, passages=2),
        cell("wow", 1, 1, 0.3),
        cell("wow", 2, 2, 0.0, passages=3),
        cell("wow", 4, 1, 0.2, passages=2),
    )
    tuned = Heads([0], {1: [[0.0]], 2: [[0.0]]}, 1, {}, cells).tuned()
    assert tuned == {"nq": Setting(4, 1), "wow": Setting(1, 1), "": Setting(4, 1)}
    assert Heads([0], {1: [[0.0]]}, 1, {}).tuned() == {}


def test_swept_heads_are_enough_for_rap_alone(retriever: Path, dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "heads.json"
    common = ("--config", "1k_p0", "--model", retriever, "--dtype", "float32")
    figures = ("--figure", tmp_path / "heads.png", "--sweep-figure", tmp_path / "sweep.png")
    how = ("--position", "question", "--m", "1,2", "--sweep", "1,2", "--out", out)
    shown = run("probe", dataset, *common, *how, *figures)
    assert "12 instances answered" in shown
    assert (tmp_path / "sweep.png").stat().st_size > 10_000
    recall = {(one.q, one.m): one.evidence_recall for one in read_heads(out).sweep}
    assert recall[1, 1] == 1.0  # the one head that retrieves
    run("eval", dataset, *common, "--max-new-tokens", 3, "--method", "rap", "--heads", out, "--out", tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["probed"]["rap"]["tasks"]["nq"]["q"] == 1
    copy = out.with_name("copy.json")
    copy.write_bytes(out.read_bytes())
    again = run("heads", out, copy, "--figure", tmp_path / "both.png")
    assert again.count("hit rates of") == 2
    assert (tmp_path / "both.png").stat().st_size > 10_000


def test_wrong_options_are_one_line(retriever: Path, dataset: Path, tmp_path: Path) -> None:
    common = ("probe", dataset, "--config", "1k_p0", "--model", retriever, "--out", tmp_path / "h.json")
    with pytest.raises(SetupError, match="was not tuned to retrieve first"):
        run(*common, "--position", "retrieval")
    with pytest.raises(SetupError, match="empty question"):
        run(*common, "--position", "retrieval", "--calibrate")
    with pytest.raises(SetupError, match="add --sweep"):
        run(*common, "--sweep-figure", tmp_path / "s.png")
    assert not (tmp_path / "h.json").exists()
