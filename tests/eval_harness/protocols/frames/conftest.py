"""A dataset of four questions over eight articles, in contexts of passages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.schema import INSTANCES
from eval_harness.data.dataset import Dataset, open_dataset
from tests.manifests import write_manifest

TEXTS = {  # by page, its passages
    "emma": ["Emma is a novel by Jane Austen.", "It was printed in London by John Murray."],
    "austen": ["Jane Austen was born in Steventon.", "She wrote six novels."],
    "lima": ["Lima is the capital of Peru.", "It lies on the Rimac river."],
    "peru": ["Peru is a country in South America.", "Its coast is dry."],
    "iron": ["Iron is a metal.", "It rusts in water."],
    "snow": ["Snow is ice.", "It melts in spring."],
    "oak": ["Oak is a tree.", "Its wood is hard."],
    "ant": ["Ants live in colonies.", "They dig tunnels."],
}
QUESTIONS = [
    # id, query, answer, gold pages, other passages, reasoning types
    ("q1", "Where was the author of Emma born?", "Steventon", ["emma", "austen"], ["iron:0"], ["Multiple constraints"]),
    ("q2", "Which river is in the capital of Peru?", "Rimac", ["lima", "peru"], ["oak:1"], ["Multiple constraints"]),
    ("q3", "How many novels did the author of Emma write?", "six", ["emma", "austen"], ["snow:1"], ["Post processing"]),
    (
        "q4",
        "What do ants dig below the oak where snow melts?",
        "tunnels",
        ["ant", "oak", "snow"],
        ["lima:0"],
        ["Post processing", "Multiple constraints"],
    ),
]


def passage(pid: str, role: str) -> dict[str, Any]:
    page, _, number = pid.partition(":")
    text = TEXTS[page][int(number)]
    return {
        "pid": pid,
        "title": page.title(),
        "text": text,
        "role": role,
        "retrievers": [],
        "rank": None,
        "score": None,
    }


def row(id: str, query: str, answer: str, gold: Sequence[str], others: Sequence[str], types: Sequence[str]) -> Any:
    passages = [passage(f"{page}:{n}", "gold") for n in (1, 0) for page in gold]
    passages += [passage(pid, "random") for pid in others]
    fields: dict[str, Any] = dict.fromkeys(INSTANCES.names)
    return fields | {
        "id": id,
        "task": "frames",
        "query": query,
        "answers": [answer],
        "passages": passages,
        "gold": [*range(2 * len(gold))],
        "hops": len(gold),
        "reasoning_types": list(types),
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The dataset's folder; indexes go into a cache beside it."""
    monkeypatch.setenv("ICR2_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "data"
    (out / "frames_1k").mkdir(parents=True)
    file = out / "frames_1k" / "test-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist([row(*one) for one in QUESTIONS], INSTANCES), file)
    counts = {"frames": {"coverage_2/2": 3, "coverage_3/3": 1, "coverage_2/3": 2, "missing_page": 2}}
    write_manifest(out, "tiny", tokenizer={"name": "smollm2"}, counts=counts)
    return out


@pytest.fixture
def dataset(folder: Path) -> Dataset:
    return open_dataset(folder)


def reader(prompt: str) -> str:
    """A model that searches for the names that it reads, and answers from what it is shown alone."""
    if "quer" in prompt:
        named = [name for name in ("Jane Austen", "Lima", "Emma", "ants", "oak", "snow") if name in prompt]
        return "\n".join([*reversed(named), "Queries:", *named])
    rests_on = {"Steventon": "born", "Rimac": "river", "six": "many", "tunnels": "ants"}
    asked = prompt.rpartition("Question:")[2]
    shown = prompt.rpartition("Question:")[0]
    return next((answer for answer, word in rests_on.items() if word in asked and answer in shown), "no idea")
