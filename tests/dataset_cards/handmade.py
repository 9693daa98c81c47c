"""Datasets of a few rows, written by hand, whose every number can be worked out on paper."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.format1 import config_facts
from builders.schema import INSTANCES

Row = dict[str, Any]


def passage(pid: str, role: str, *retrievers: str) -> Row:
    """A passage found by some retrievers."""
    found = {"rank": 1, "score": 0.5} if retrievers else {"rank": None, "score": None}
    return {"pid": pid, "title": "T", "text": "words", "role": role, "retrievers": list(retrievers), **found}


def row(id: str, passages: Sequence[Row], **more: Any) -> Row:
    """A row of task nq, unless it is said otherwise."""
    gold = [at for at, found in enumerate(passages) if found["role"] == "gold"]
    others = len(passages) - len(gold)
    confounders = sum(found["role"] == "confounder" for found in passages)
    usual = {"task": "nq", "query": "who", "answers": ["Ann"], "n_tokens": 100, "hops": 1, "depth": None}
    kinds = {"kind": "qa", "answer_kind": "text"}
    if more.get("task") == "fever":
        kinds = {"kind": "fact", "answer_kind": "label"}
    lists = {"reasoning_types": [], "flags": []}
    ratio = confounders / others if others else 0.0
    return {
        "id": id,
        "question_id": id,
        "context_id": id,
        "passages": list(passages),
        "gold": gold,
        "confounding_ratio": ratio,
        **usual,
        **kinds,
        **lists,
        **more,
    }


def write_dataset(folder: Path, rows: Mapping[str, Mapping[str, Sequence[Row]]]) -> Path:
    """Writes a dataset folder of {config: {split: rows}} with a manifest."""
    configs: dict[str, dict[str, list[Row]]] = {}
    for config, splits in rows.items():
        for split, instances in splits.items():
            path = f"{config}/{split}-00000-of-00001.parquet"
            (folder / config).mkdir(parents=True, exist_ok=True)
            named = [{**instance, "config": config} for instance in instances]
            pq.write_table(pa.Table.from_pylist(named, schema=INSTANCES), folder / path)
            data = (folder / path).read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            file = {"path": path, "rows": len(instances), "bytes": len(data), "sha256": digest}
            configs.setdefault(config, {})[split] = [file]
    tasks = dict.fromkeys(r["task"] for splits in rows.values() for part in splits.values() for r in part)
    (folder / "manifest.json").write_text(json.dumps(_manifest(configs, list(tasks))), encoding="utf-8")
    return folder


def _kind(task: str) -> Row:
    if task == "fever":
        return {"kind": "fact", "labels": {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}}
    return {"kind": "dialogue" if task == "wow" else "qa", "labels": {}}


def _manifest(configs: Row, tasks: Sequence[str]) -> Row:
    source = {"reader": "kilt", "path": "pages.jsonl"}
    recipe = {
        "name": "by_hand",
        "version": "1.0.0",
        "language": "en",
        "tokenizer": "smollm2",
        "knowledge": source,
        "tasks": {task: {"files": {"all": source}, "take": {}, "gold": "best", **_kind(task)} for task in tasks},
        "retrievers": {"bm25": {"kind": "bm25"}, "dense": {"kind": "dense", "model": "m"}},
        "runs": None,
        "limit": None,
        "chunk_words": 100,
        "lengths": ["1k"],
        "loft": [],
    }
    return {
        "format": "icr2-manifest/2",
        "name": "by_hand",
        "version": "1.0.0",
        "language": "en",
        "recipe": recipe,
        "recipe_digest": "d" * 64,
        "inputs": {"knowledge": {"sha256": "e" * 64, "licence": "cc-by-sa-4.0"}},
        "tokenizer": {"name": "smollm2", "sha256": "f" * 64},
        "retrievers": {"bm25": {"run_sha256": "a" * 64}, "dense": {"run_sha256": "b" * 64, "neural": True}},
        "tasks": {task: {**_kind(task), "source": task} for task in tasks},
        "configs": {name: {**config_facts(name, {}), "files": files} for name, files in configs.items()},
        "counts": {"questions": {"read": 5, "dup_input": 2}},
    }
