"""Rows, run folders and a dataset with hostile texts, made by hand."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from builders.config import tokens_of
from builders.tasks import KindName, TaskSpec
from eval_harness.data.dataset import open_dataset
from eval_harness.report.study import Study, one_study, read_studies
from eval_harness.run.results import Row, Status
from eval_harness.scoring.registry import scorer_of
from tests.eval_harness.conftest import instance, write_config
from tests.manifests import write_manifest_2

CONDITIONS = {"closed_book": "closed_book", "vanilla_rag": "vanilla", "oracle_rag": "oracle"}
KINDS: dict[str, KindName] = {"fever": "fact", "wow": "dialogue"}
HOSTILE = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
DIGEST = "d" * 64


def make_row(
    id: str,
    score: float | None = 1.0,
    *,
    task: str = "nq",
    config: str = "1k_p0",
    method: str = "vanilla_rag",
    status: Status = "ok",
    prompt: str | None = None,
    **fields: Any,
) -> Row:
    """A row whose measures all have one score, None for a row that is not counted."""
    spec = spec_of(task)
    scores = {} if score is None else dict.fromkeys(scorer_of(spec).metrics, score)
    names = (id, task, spec.kind, spec.scored_by, config, "test", CONDITIONS.get(method, method), method, "tiny")
    facts = {"question_id": id} | fields
    return Row(*names, status, scores, prompt_sha256=prompt or f"{id}{config}{method}", **facts)


def spec_of(task: str) -> TaskSpec:
    """What a task of these tests is: claims, a conversation, or questions."""
    kind = KINDS.get(task, "qa")
    return TaskSpec(task, kind, {"SUPPORTS": "TRUE", "REFUTES": "FALSE"} if kind == "fact" else {})


def facts_of(config: str) -> dict[str, Any]:
    """What a config of these tests is, such as 4k_p75 or loft_32k."""
    one, _, other = config.partition("_")
    if other.startswith("p"):
        return {"family": "icr2", "length": one, "tokens": tokens_of(one), "ratio": int(other[1:])}
    return {"family": one, "length": other, "tokens": tokens_of(other), "ratio": None}


def write_run(folder: Path, rows: list[Row], **record: Any) -> Path:
    """A run folder with a record whose model is `tiny`."""
    folder.mkdir(parents=True)
    dataset = {"name": "data", "version": "1.0.0", "manifest_sha256": DIGEST}
    content = {"dataset": dataset, "model": {"name": "tiny", "dtype": "float32"}, "split": "test", "limit": None}
    content |= {"configs": {row.config: facts_of(row.config) for row in rows}}
    (folder / "run.json").write_text(json.dumps(content | record))
    (folder / "results.jsonl").write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    return folder


@pytest.fixture
def study_of(tmp_path: Path) -> Callable[..., Study]:
    """Makes the study of one run from its rows."""

    def make(rows: list[Row], **record: Any) -> Study:
        return one_study(read_studies([write_run(tmp_path / "run", rows, **record)]))

    return make


def write_dataset(folder: Path) -> Path:
    """Two configs of the same two instances; a title, a query and a text try to break out of a page."""
    rows = [
        instance("nq-1", "nq", f"who wrote Emma {HOSTILE}", ["Jane Austen"], [1], [HOSTILE, "Emma is by Jane Austen."]),
        instance("fever-1", "fever", "Osmium is dense.", ["SUPPORTS"], [0], ["Osmium is dense indeed."]),
    ]
    rows[0]["passages"][0] |= {"title": HOSTILE, "role": "confounder", "retrievers": ["bm25"], "rank": 1}
    for config in ("1k_p0", "1k_p100"):
        write_config(folder, config, rows)
    write_manifest_2(folder)
    return folder


def write_hostile_run(folder: Path, dataset: Path) -> Path:
    """A run on that dataset: two configs, two methods and a third on one, answers with markup, unparsed outputs."""
    found = open_dataset(dataset)
    rows = []
    for config in ("1k_p0", "1k_p100"):
        for method in ("closed_book", "vanilla_rag"):
            names = {"config": config, "method": method}
            rows.append(
                make_row("nq-1", 1.0, **names, output=f"Jane Austen {HOSTILE}", answer=HOSTILE, n_prompt_tokens=9)
            )
            rows.append(make_row("fever-1", 0.0, task="fever", **names, status="unparsed", output="It is heavy."))
    rows.append(
        make_row("nq-1", 1.0, config="1k_p100", method="retrieved_bm25@1", output="Jane Austen", evidence=["1:0"])
    )
    dataset_of = {"name": found.name, "version": found.version, "manifest_sha256": found.manifest_sha256}
    return write_run(folder, rows, dataset=dataset_of)
