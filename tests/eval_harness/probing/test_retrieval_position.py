"""Scores from the tokens of a retrieval: the rows that predict them, read from the cache that writing them left."""

from pathlib import Path
from typing import Any

import pytest
import torch

from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.data.dataset import Instance, Passage
from eval_harness.models.hf import HfModel
from eval_harness.models.steps import marks_of
from eval_harness.probing.heads import top
from eval_harness.probing.probe import OF_RETRIEVALS, VARIANTS, Variant, scores_of
from eval_harness.probing.spans import token_spans
from tests.eval_harness.specs import NQ

INSTANCE = Instance(
    "nq-1", NQ, "who?", ["x"], [Passage(f"p{n}", f"T{n}", f"text {n} " * n, "gold") for n in (1, 2, 3)], [1], "c"
)


@pytest.fixture
def model(marked_folder: Path) -> HfModel:
    return HfModel(marked_folder, "marked", "r", "float32")


def writes(monkeypatch: pytest.MonkeyPatch, output: list[int]) -> None:
    """Lets a model write `output`, leaving the cache that writing it would leave."""

    def greedy(network: Any, ids: list[int], start: int, cache: Any, limit: int, stops: Any) -> list[int]:
        network(input_ids=torch.tensor([ids + output[:-1]]), cache=cache, use_cache=True)
        return list(output)

    monkeypatch.setattr("eval_harness.models.steps.greedy", greedy)


@pytest.mark.parametrize("written", [True, False], ids=["retrieval", "none"])
def test_equals_eager_rows(model: HfModel, monkeypatch: pytest.MonkeyPatch, written: bool) -> None:
    from transformers import AutoModelForCausalLM

    opens, closes = marks_of(model)
    output = [opens, 40, 41, 42, closes] if written else [40, 41, model.stops[0]]
    writes(monkeypatch, output)
    found = scores_of(model, INSTANCE, OF_RETRIEVALS, [0, 1])
    prompt = render(spec_of("nq"), INSTANCE.query, [(p.title, p.text) for p in INSTANCE.passages])
    ids = model.encode(prompt.text)
    spans = token_spans(model.template.places(prompt.text), prompt.spans)
    rows = [len(ids), len(ids) + 1, len(ids) + 2] if written else [len(ids) - 1]  # each predicts the token after it
    eager = AutoModelForCausalLM.from_pretrained(
        Path(model.network.config._name_or_path), attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        maps = eager(torch.tensor([ids + output]), output_attentions=True).attentions
    wanted = torch.stack(
        [torch.stack([layer[0][:, rows, start:end].sum(-1).mean(-1) for start, end in spans], dim=-1) for layer in maps]
    )
    torch.testing.assert_close(found[Variant("retrieval", "sum", False)], wanted, atol=1e-5, rtol=1e-4)
    by_row = torch.stack(
        [torch.stack([layer[0][:, rows, start:end].sum(-1) for start, end in spans], dim=-1) for layer in maps]
    )  # layers, heads, rows, passages
    for m in (1, 2):
        chosen = torch.zeros(by_row.shape, dtype=torch.bool).scatter_(-1, by_row.topk(m).indices, True).any(dim=2)
        assert torch.equal(top(found[Variant("retrieval", "sum", False, "union")], m), chosen)


def test_other_positions_are_as_without_it(model: HfModel, monkeypatch: pytest.MonkeyPatch) -> None:
    opens, closes = marks_of(model)
    writes(monkeypatch, [opens, 40, closes])
    together = scores_of(model, INSTANCE, [*VARIANTS, *OF_RETRIEVALS], [0, 1])
    alone = scores_of(model, INSTANCE, VARIANTS, [0, 1])
    for variant in VARIANTS:
        torch.testing.assert_close(together[variant], alone[variant], atol=1e-6, rtol=1e-5)
    assert set(together) == {*VARIANTS, *OF_RETRIEVALS}
