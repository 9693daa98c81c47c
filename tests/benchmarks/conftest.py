"""A KILT of forty pages in the layout of kilt_mini."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.inputs import TASKS
from benchmarks.memory import build_command

PAGES = 40
PLACES = ("harbour", "market", "castle", "bridge", "garden")


def _lines(path: Path, records: Sequence[dict]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def _page(n: int) -> dict:
    sentences = [
        f"Sentence {s} tells of the {PLACES[s % 5]} of town {n} and its {n * s} old houses." for s in range(20)
    ]
    text = [f"Town {n}\n", f"Mayor {n} ruled it well. " + " ".join(sentences)]
    return {"_id": str(n), "wikipedia_id": str(n), "wikipedia_title": f"Town {n}", "text": text, "anchors": []}


def _question(task: str, n: int) -> dict:
    answer = "SUPPORTS" if task == "fever" else f"Mayor {n}"
    span = {"wikipedia_id": str(n), "start_paragraph_id": 1, "start_character": 0, "end_paragraph_id": 1}
    provenance = [{**span, "end_character": 20}]
    return {
        "id": f"{task}{n}",
        "input": f"Who ruled town {n}, in task {task}?",
        "output": [{"answer": answer, "provenance": provenance}],
    }


def build_by_itself(folder: Path, source: Path, work: Path) -> list[str]:
    """The command of a build without worker processes, each of which would load the libraries again."""
    return [*build_command(folder, source, work), "--workers", "1"]


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of inputs that holds a small kilt_mini: forty pages, and twelve questions for each task."""
    data = tmp_path_factory.mktemp("data")
    folder = data / "kilt_mini"
    folder.mkdir()
    _lines(folder / "kilt_knowledgesource.json", [_page(n) for n in range(PAGES)])
    for task in TASKS:
        _lines(folder / f"{task}-dev-kilt.jsonl", [_question(task, n) for n in range(12)])
    return data


@pytest.fixture
def small_kilt(small_data: Path) -> Path:
    """The small kilt_mini itself."""
    return small_data / "kilt_mini"
