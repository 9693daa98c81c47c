"""The questions that a run folder keeps, so that it can be judged and reported without its dataset."""

from pathlib import Path
from typing import NamedTuple

from builders.errors import SetupError
from builders.files import write_json
from builders.manifest import read_manifest
from builders.sql import identifier
from builders.typed import read_json, typed
from builders.views import connect
from eval_harness.data.dataset import Dataset

FILE = "questions.json"
_COLUMNS = ("id", "query", "answers", "reasoning_types", "hops")


class Asked(NamedTuple):
    """A question with what judging and reporting need; `articles` is its number of gold articles in the source."""

    query: str
    answers: list[str]
    reasoning_types: list[str]
    articles: int


class Questions(NamedTuple):
    """A run's questions by id; `coverage` counts the source's questions with k of n articles available."""

    asked: dict[str, Asked]
    coverage: dict[str, int]


def keep_questions(dataset: Dataset, config: str, split: str, folder: Path) -> None:
    """Writes the questions of a config's split and the dataset's coverage into a run folder."""
    query = f"SELECT {', '.join(_COLUMNS)} FROM {identifier(config)} WHERE split = ?"
    rows = connect(dataset.folder).execute(query, [split]).fetchall()
    asked = {id: Asked(query, answers, types or [], hops or 0) for id, query, answers, types, hops in rows}
    counts = [count for stage in read_manifest(dataset.folder).counts.values() for count in stage.items()]
    coverage = {name.removeprefix("coverage_"): n for name, n in counts if name.startswith("coverage_")}
    write_json(folder / FILE, {"asked": {id: one._asdict() for id, one in asked.items()}, "coverage": coverage})


def read_questions(folder: Path) -> Questions:
    """The questions in a run folder."""
    path, then = folder / FILE, "delete it and rerun icr2 frames run"
    if not path.exists():
        raise SetupError(f"{folder} has no {FILE}, so it is not a finished run; create one with: icr2 frames run")
    return typed(read_json(path, then), Questions, path, then)
