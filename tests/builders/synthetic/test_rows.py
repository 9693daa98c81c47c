"""The folder of a synthetic dataset: files, manifest and card as the pipeline writes them, whole or not at all."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from pydantic import Field
from rich.console import Console

from builders.config import Source
from builders.engine import Pipeline, Stage, Tick
from builders.errors import SetupError
from builders.load_recipe import load_recipe
from builders.pipeline import prepare, run_build
from builders.schema import INSTANCES, Passage, Question
from builders.synthetic import KINDS
from builders.synthetic.base import SyntheticRecipe, SyntheticRow, row_of
from builders.synthetic.rows import WRITE, write_rows
from builders.tasks import TaskSpec
from builders.views import connect
from builders.work import Build, Counts, Shard
from validation.checks.schema import difference


class Squares(SyntheticRecipe):
    """Squares of the numbers up to n."""

    n: int = Field(3, ge=0)
    words: Source

    def tasks_of(self, paths: Mapping[str, Path]) -> list[TaskSpec]:
        return [TaskSpec("squares", "qa", source=paths["words"].name)]


def plan(build: Build[Squares]) -> list[Shard]:
    return [Shard(str(number), part=number) for number in range(build.recipe.n)]


def make(build: Build[Squares], shard: Shard, out: Path, tick: Tick) -> Counts:
    number, words = shard.part, build.inputs["words"].path.read_text().split()
    gold = Passage(0, f"{number}:0", "Squares", f"{number} times {number} is {number**2}.", "gold")
    other = Passage(1, "w:0", "Words", " ".join(words), "random")
    question = Question(f"s-{number}", "squares", f"{number}^2?", [str(number**2)], "text", [], 1, ["square"])
    row = row_of(question, "qa", [other, gold], 50, flags=["odd"] * (number % 2))
    rows = [SyntheticRow(config, "test", row) for config in build.recipe.configs]
    if number == 0:
        rows.append(SyntheticRow(build.recipe.config("1k"), "validation", row_of(question, "qa", [gold], 20)))
    write_rows(rows, out)
    return {"asked": 1}


@pytest.fixture(autouse=True)
def kind(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Stage("rows", "build rows", 1, (), ("n", "words", "lengths"), plan, make)
    sources = lambda recipe, base: {"words": recipe.words}  # noqa: E731
    monkeypatch.setitem(KINDS, "squares", Pipeline(Squares, [rows, WRITE], sources, "Squares of small numbers."))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("one two three")
    words = {"reader": "words", "path": "words.txt", "licence": "cc0-1.0"}
    recipe = {"kind": "squares", "name": "sq", "tokenizer": "smollm2", "lengths": ["1k"], "words": words}
    (tmp_path / "sq.yaml").write_text(yaml.safe_dump(recipe))
    return tmp_path


def built(folder: Path, *settings: str, out: str = "out") -> Path:
    recipe, base = load_recipe(str(folder / "sq.yaml"), list(settings))
    assert isinstance(recipe, Squares)
    run_build(recipe, base, folder / out, folder / f"{out}.work", 1, Console(quiet=True))
    return folder / out


def test_the_folder(folder: Path) -> None:
    out = built(folder, "rows_per_file=2", "n=5")
    manifest = json.loads((out / "manifest.json").read_text())
    files = manifest["configs"]["squares_1k"]["files"]["test"]
    assert [file["rows"] for file in files] == [2, 2, 1]
    assert [file["path"] for file in files] == [f"squares_1k/test-0000{n}-of-00003.parquet" for n in range(3)]
    assert list(manifest["configs"]["squares_1k"]["files"]) == ["test", "validation"]
    for file in files:
        content = (out / file["path"]).read_bytes()
        assert (len(content), sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
        assert difference(out / file["path"], INSTANCES) is None
    assert manifest["tasks"] == {"squares": {"kind": "qa", "labels": {}, "scorer": "qa", "source": "words.txt"}}
    about = {name: value for name, value in manifest["configs"]["squares_1k"].items() if name != "files"}
    numbers = {"length": "1k", "tokens": 1024, "ratio": None, "depth": None, "budget": 768, "passages": None}
    assert about == {"family": "squares", **numbers}
    assert manifest["counts"] == {"rows": {"asked": 5}, "write": {"rows": 6}}
    licence = {"file": "words.txt", "licence": "cc0-1.0"}
    assert manifest["inputs"] == {"words": {"sha256": sha256(b"one two three").hexdigest(), **licence}}
    card = (out / "README.md").read_text()
    assert "Squares of small numbers. Each row" in card
    assert "Wikipedia" not in card
    asked = connect(out).execute("SELECT id, gold, flags FROM squares_1k WHERE split = 'test' ORDER BY id").fetchall()
    assert asked == [(f"s-{n}", [1], ["odd"] * (n % 2)) for n in range(5)]


def test_long_files_have_row_groups_of_one_size(folder: Path) -> None:
    out = built(folder, "n=150", "rows_per_file=100")
    sizes = []
    for path in sorted((out / "squares_1k").glob("test-*")):
        metadata = pq.read_metadata(path)
        sizes.append([metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)])
    assert sizes == [[64, 36], [50]]


def test_the_same_bytes_twice(folder: Path) -> None:
    """The same bytes again."""
    first, second = (built(folder, out=name) for name in ("one", "two"))
    names = [path.relative_to(first) for path in sorted(first.rglob("*")) if path.is_file()]
    assert len(names) == 4
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


def test_a_config_without_rows_is_refused_and_nothing_is_left(folder: Path) -> None:
    with pytest.raises(SetupError, match="no instance of squares_1k, test fits"):
        built(folder, "n=0")
    assert not list(folder.glob("out")) + list(folder.glob(".*"))
    with pytest.raises(SetupError, match="squares_2k, validation"):
        built(folder, "lengths=[1k, 2k]")


def test_settings(folder: Path) -> None:
    with pytest.raises(SetupError, match="unknown key nn; did you mean n"):
        built(folder, "nn=3")
    with pytest.raises(SetupError, match=r"kind 'circles' is unknown; there are .*squares"):
        built(folder, "kind=circles")
    with pytest.raises(SetupError, match="lengths"):
        built(folder, "lengths=[]")
    with pytest.raises(SetupError, match="leaves no token"):
        built(folder, "reserve=1024")
    recipe, base = load_recipe(str(folder / "sq.yaml"), ["words.path=gone.txt"])
    with pytest.raises(SetupError, match=r"gone\.txt is not there"):
        prepare(recipe, base, folder / "work")


def test_no_folder_of_this_machine_reaches_the_manifest(folder: Path) -> None:
    out = built(folder, f"data={folder}", f"words.path={folder}/words.txt")
    assert str(folder) not in (out / "manifest.json").read_text()
