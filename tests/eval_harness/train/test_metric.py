"""Scores while a model is trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eval_harness.data.dataset import Instance, load_instances, open_dataset
from eval_harness.models import load_model
from eval_harness.models.base import Generation, GenerationError
from eval_harness.train.metric import Live, measured
from eval_harness.train.network import load_network, write_start
from tests.eval_harness.conftest import ROWS, SPECIAL


@pytest.fixture
def instances(make_dataset: Any) -> list[Instance]:
    """Two questions, a claim and a dialogue."""
    return load_instances(open_dataset(make_dataset(c1k_p0=ROWS)), "1k_p0", "test")


class Scripted(Live):
    """Answers by what stands in a prompt."""

    def __init__(self) -> None:
        self.name, self.max_positions = "scripted", 5000

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
    assert measured(Scripted(), "cci", instances) == {
        "fever": {"n": 1, "label_accuracy": 1.0, "evidence_recall": 1.0},
        "nq": {"n": 2, "subspan_em": 0.5, "evidence_recall": 1.0},
    }


def test_a_retrieval_left_open_is_no_answer(instances: list[Instance]) -> None:
    class Open(Scripted):
        def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
            return [Generation("<RETRIEVAL>[2] Jane Austen", 1, max_new_tokens, truncated=True)]

    assert measured(Open(), "cci", instances[:1])["nq"] == {"n": 1, "subspan_em": 0.0, "evidence_recall": 1.0}


def test_a_network_answers_as_the_harness_would(base: Path, tmp_path: Path, instances: list[Instance]) -> None:
    write_start(base, "tiny", tmp_path / "start", marks=True, rope_base=None, max_length=4096)
    live = Live(load_network(tmp_path / "start", "tiny", "float32").eval(), tmp_path / "start")
    model = load_model(str(tmp_path / "start"), "float32")
    for prompt in ("who wrote Emma", "Petra", "x" * 200):
        (ours,), (theirs,) = (one.generate([prompt], 24) for one in (live, model))
        text = ours.text
        for control in SPECIAL:
            text = text.replace(control, "")
        assert (text, *ours[1:]) == tuple(theirs)
    assert live.count("Petra") == model.count("Petra")
    with pytest.raises(GenerationError, match="do not fit into 4096"):
        live.generate(["x" * 4090], 24)
