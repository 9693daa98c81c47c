"""Scores while a model is trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from eval_harness.data.dataset import Instance, load_instances, open_dataset
from eval_harness.models import load_model
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.fake import FakeModel
from eval_harness.models.hf import HfModel
from eval_harness.train.metric import measured
from eval_harness.train.network import load_network, write_start
from tests.eval_harness.conftest import ROWS


@pytest.fixture
def instances(make_dataset: Any) -> list[Instance]:
    """Two questions, a claim and a dialogue."""
    return load_instances(open_dataset(make_dataset(c1k_p0=ROWS)), "1k_p0", "test")


class Scripted(FakeModel):
    """Answers by what stands in a prompt."""

    def __init__(self) -> None:
        super().__init__(str, name="scripted", max_positions=5000)

    def count(self, prompt: str) -> int:
        return len(prompt)

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        (prompt,) = prompts
        if "Petra" in prompt:
            raise GenerationError("does not fit")
        text = (
            "<RETRIEVAL>[1]</RETRIEVAL>\nTRUE" if "Osmium" in prompt else "<RETRIEVAL>[2][1]</RETRIEVAL>\nJane Austen"
        )
        return [Generation(text, len(prompt), len(text), truncated=False)]


def test_scores_are_means_of_those_of_a_run(instances: list[Instance]) -> None:
    """nq-1 is answered right and nq-2 wrong, the gold of both is retrieved; the dialogue does not fit."""
    assert measured(Scripted(), "cci", instances, "en") == {
        "fever": {"n": 1, "label_accuracy": 1.0, "evidence_recall": 1.0},
        "nq": {"n": 2, "subspan_em": 0.5, "evidence_recall": 1.0},
    }


def test_the_score_is_the_headline_of_the_language(instances: list[Instance]) -> None:
    found = measured(Scripted(), "cci", instances, "ja")
    assert {task: list(scores) for task, scores in found.items()} == {
        "fever": ["n", "label_accuracy", "evidence_recall"],
        "nq": ["n", "subspan_em_strict", "evidence_recall"],
    }


def test_a_retrieval_left_open_is_no_answer(instances: list[Instance]) -> None:
    class Open(Scripted):
        def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
            return [Generation("<RETRIEVAL>[2] Jane Austen", 1, max_new_tokens, truncated=True)]

    assert measured(Open(), "cci", instances[:1], "en")["nq"] == {"n": 1, "subspan_em": 0.0, "evidence_recall": 1.0}


def test_a_network_answers_as_the_harness_would(base: Path, tmp_path: Path, instances: list[Instance]) -> None:
    write_start(base, "tiny", tmp_path / "start", marks=True, rope_base=None, max_length=4096)
    network = load_network(tmp_path / "start", "tiny", "float32").eval()
    settings = network.generation_config
    live = HfModel.trained(network, tmp_path / "start")
    model = load_model(str(tmp_path / "start"), "float32")
    for prompt in ("who wrote Emma", "Petra", "x" * 200):
        assert live.generate([prompt], 24) == model.generate([prompt], 24)
    assert live.count("Petra") == model.count("Petra")
    with pytest.raises(GenerationError, match="do not fit into 4096"):
        live.generate(["x" * 4090], 24)
    assert network.generation_config is settings


def test_a_network_can_go_on_learning_after_it_answered(base: Path, tmp_path: Path) -> None:
    write_start(base, "tiny", tmp_path / "start", marks=True, rope_base=None, max_length=4096)
    network = load_network(tmp_path / "start", "tiny", "float32").eval()
    HfModel.trained(network, tmp_path / "start").generate(["Petra"], 4)
    network(input_ids=torch.tensor([[5, 6]]), labels=torch.tensor([[5, 6]])).loss.backward()
    assert all(weight.grad is not None for weight in network.parameters())
