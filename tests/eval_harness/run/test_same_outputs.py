"""Batches and shared prefixes give the small model's outputs one prompt at a time, in float32, on the demo.

An output may differ only where, at the first token that differs, the two best logits are within 1e-3.
"""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from builders.errors import SetupError
from eval_harness.data.dataset import Instance, open_dataset
from eval_harness.methods.limits import fixed
from eval_harness.models import load_model
from eval_harness.models.hf import HfModel
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.requests import Request, requests
from eval_harness.run.results import Results, Row
from eval_harness.run.run import run

NEAR = 1e-3
EACH = int(os.environ.get("ICR2_TEST_EACH", 1))  # questions of each task; more take minutes


@pytest.fixture(scope="module")
def smollm2() -> HfModel:
    try:
        model = load_model("smollm2", "float32")
    except SetupError as error:
        pytest.skip(str(error))
    assert isinstance(model, HfModel)
    return model


def rows_of(model: HfModel, plan: Plan, folder: Path) -> dict[tuple[str, str, str], Row]:
    results = Results(folder, record(plan, model))
    run(plan, model, results, Progress(disable=True))
    assert {row.status for row in results.rows} <= {"ok", "unparsed"}
    return {row.key: row for row in results.rows}


def gap(model: HfModel, request: Request, one: str, other: str) -> float:
    """The difference of the two best logits where the outputs part."""
    import torch

    first, second = (model.tokenizer(text, add_special_tokens=False).input_ids for text in (one, other))
    same = next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), len(first))
    ids = torch.tensor([model.encode(request.prompt or "") + first[:same]])
    with torch.inference_mode():
        best = model.network(input_ids=ids, logits_to_keep=1).logits[0, -1].topk(2).values
    return float(best[0] - best[1])


def differing(model: HfModel, plan: Plan, ours: dict[Any, Row], single: dict[Any, Row]) -> list[str]:
    """The ids of rows whose outputs differ; each has its two best tokens near together where it does."""
    assert ours.keys() == single.keys()
    by_key = {request.key: request for group in requests(plan, model.count) for request in group}
    found = [key for key, row in ours.items() if row.output != single[key].output]
    for key in found:
        assert gap(model, by_key[key], ours[key].output or "", single[key].output or "") < NEAR, key
    return [key[0] for key in found]


def plan_of(folder: Path, config: str, methods: Sequence[str], new_tokens: int = 16, **fields: Any) -> Plan:
    return Plan(open_dataset(folder), (config,), tuple(methods), limits=fixed(new_tokens), **fields)


@dataclass(frozen=True)
class Begun(Plan):
    """A plan over the beginnings of contexts."""

    def instances(self, config: str) -> list[Instance]:
        """The instances with their first eight passages."""
        return [
            one._replace(passages=one.passages[:8], gold=[at for at in one.gold if at < 8])
            for one in super().instances(config)
        ]


def test_two_questions(smollm2: HfModel, dataset_folder: Path, tmp_path: Path) -> None:
    """Under two settings that share their passages, in a batch and after a shared prefix."""
    methods = ("vanilla_rag", "vanilla_rag+cite")
    single = plan_of(dataset_folder, "1k_p75", methods, 6, tasks=("nq",), shares_prefixes=False)
    shared = plan_of(dataset_folder, "1k_p75", methods, 6, tasks=("nq",))
    batched = plan_of(dataset_folder, "1k_p75", methods, 6, tasks=("nq",), shares_prefixes=False, batch_size=8)
    fresh = rows_of(smollm2, single, tmp_path / "single")
    after, together = rows_of(smollm2, shared, tmp_path / "shared"), rows_of(smollm2, batched, tmp_path / "batched")
    assert len(fresh) == 4
    assert [bool(row.n_cached_tokens) for row in after.values()].count(True) == 2
    assert not differing(smollm2, single, after, fresh)
    assert not differing(smollm2, single, together, fresh)


@pytest.mark.slow
def test_questions_in_batches_of_eight(smollm2: HfModel, demo: Path, tmp_path: Path) -> None:
    """Some of each task with their whole contexts; a warning lists those that differ."""
    single = plan_of(demo, "1k_p75", ["vanilla_rag"], 8, limit=EACH)
    batched = plan_of(demo, "1k_p75", ["vanilla_rag"], 8, limit=EACH, batch_size=8)
    ours, fresh = rows_of(smollm2, batched, tmp_path / "8"), rows_of(smollm2, single, tmp_path / "1")
    assert len(ours) == 4 * EACH
    if found := differing(smollm2, single, ours, fresh):
        warnings.warn(f"two best logits within {NEAR} where the outputs part: {', '.join(found)}", stacklevel=1)


@pytest.mark.slow
def test_questions_over_one_context(smollm2: HfModel, demo: Path, tmp_path: Path) -> None:
    """The first two questions of a LOFT-style context, of which the first passages are read once."""
    fields: dict[str, Any] = {"tasks": ("nq",), "limit": 2, "limits": fixed(8)}
    fresh = Begun(open_dataset(demo), ("loft_4k",), ("vanilla_rag",), shares_prefixes=False, **fields)
    shared = Begun(open_dataset(demo), ("loft_4k",), ("vanilla_rag",), batch_size=2, **fields)
    ours, single = rows_of(smollm2, shared, tmp_path / "2"), rows_of(smollm2, fresh, tmp_path / "1")
    cached = sorted((row.n_cached_tokens or 0, row.n_prompt_tokens or 0) for row in ours.values())[1]
    assert cached[0] > max(700, 0.8 * cached[1])
    differing(smollm2, fresh, ours, single)
