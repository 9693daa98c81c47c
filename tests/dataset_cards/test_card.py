"""The card: loading by it, its content, and unusual values."""

import hashlib
import io
import json
import logging
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer
import yaml
from huggingface_hub import DatasetCard
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console
from typer.testing import CliRunner

from builders.bar import late_bar
from builders.errors import SetupError
from builders.load_recipe import load_recipe
from builders.pipeline import run_build
from builders.schema import INSTANCES
from dataset_cards.card import escaped, write_card
from dataset_cards.cli import register
from dataset_cards.licences import HUB_LICENCES
from tests.dataset_cards.ready import change_rows, manifest_of, only, rows_of, write

WRITTEN = ("README.md", "statistics.json", "croissant.json", "figures")
MARKDOWN = MarkdownIt("commonmark").enable("table")


def bare(source: Path, out: Path) -> Path:
    """A dataset as `icr2 build` leaves it."""
    shutil.copytree(source, out)
    for name in ("validation.json", "statistics.json"):
        (out / name).unlink()
    return out


@pytest.fixture(scope="module")
def carded(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny dataset with its card; not to be changed."""
    folder = bare(built, tmp_path_factory.mktemp("carded") / "icr2")
    write_card(folder)
    return folder


@pytest.fixture
def small(dataset: Path) -> Path:
    """A copy of the tiny dataset with one config, not validated."""
    only(dataset, ["1k_p50"])
    (dataset / "validation.json").unlink()
    return dataset


def files_of(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def validation_of(folder: Path, **more: Any) -> dict:
    usual = {"severity": "error", "status": "passed", "unit": "instance", "examined": 1200, "failing": 0, "rate": 0.0}
    checks = [{"name": "schema", "says": "one schema", "why": "w", **usual}]
    digest = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    head = {"format": "icr2-validation/1", "manifest_sha256": digest, "complete": True, "passed": True}
    return {**head, "checks": checks, **more}


def test_the_same_bytes_in_any_folder(carded: Path, tmp_path: Path) -> None:
    other = shutil.copytree(carded, tmp_path / "elsewhere" / "set")
    for name in ("README.md", "statistics.json", "figures/tokens.png"):
        (other / name).write_text("of an older card", encoding="utf-8")
    write_card(other)
    assert files_of(other) == files_of(carded)
    figures = {path.name for path in (carded / "figures").iterdir()}
    assert figures == {"composition.png", "tokens.png", "gold_position.png", "retrievers.png"}
    texts = "".join((carded / name).read_text(encoding="utf-8") for name in WRITTEN if "." in name)
    assert str(carded.parent) not in texts


@pytest.mark.filterwarnings("error")
def test_every_config_loads_as_it_was_written(carded: Path, tmp_path: Path) -> None:
    """By explicit paths, lists of structs stay so, and text stays large."""
    from datasets import get_dataset_config_names, load_dataset

    configs = manifest_of(carded)["configs"]
    assert set(get_dataset_config_names(str(carded))) == set(configs)
    for config, about in configs.items():
        splits = about["files"]
        loaded = load_dataset(str(carded), config, cache_dir=str(tmp_path / "cache"))
        assert set(loaded) == set(splits)
        for split in splits:
            assert loaded[split].to_list() == rows_of(carded, config, split)
    assert loaded["test"].features["passages"].feature["text"].dtype == "large_string"
    assert loaded["test"].features.arrow_schema.remove_metadata() == INSTANCES.remove_metadata()


def test_the_head_is_what_the_hub_takes(carded: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Names become paths and configs; no repeated name, no data_dir, no missing file."""
    text = (carded / "README.md").read_text(encoding="utf-8")
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        warnings.simplefilter("error")
        data = DatasetCard(text).data.to_dict()
    assert not caplog.records
    assert data["license"] in HUB_LICENCES
    assert data["task_categories"] == ["text-classification", "question-answering"]
    assert data["size_categories"] == ["n<1K"]
    names = [config["config_name"] for config in data["configs"]]
    assert len(set(names)) == len(names) == 9
    assert not any("default" in config or "data_dir" in config for config in data["configs"])
    listed = [path for config in data["configs"] for files in config["data_files"] for path in files["path"]]
    assert all((carded / path).is_file() for path in listed)
    for info in data["dataset_info"]:
        files = manifest_of(carded)["configs"][info["config_name"]]["files"]
        assert {s["name"]: s["num_examples"] for s in info["splits"]} == {s: f[0]["rows"] for s, f in files.items()}
        assert info["download_size"] == sum(f[0]["bytes"] for f in files.values())
        assert info["dataset_size"] == sum(s["num_bytes"] for s in info["splits"])


def test_a_version_stays_a_string(small: Path) -> None:
    """1.10 is not 1.1."""
    manifest = manifest_of(small)
    manifest["version"] = manifest["recipe"]["version"] = "1.10.0"
    write(small / "manifest.json", manifest)
    write_card(small)
    assert DatasetCard.load(small / "README.md").data.to_dict()["version"] == "1.10.0"
    assert "`v1.10.0`" in (small / "README.md").read_text(encoding="utf-8")


def test_table_2_is_that_of_the_files(carded: Path) -> None:
    table = pq.read_table(carded / "1k_p75" / "test-00000-of-00001.parquet").to_pandas()
    cells = {}
    for task, rows in table.groupby("task"):
        means = (rows.passages.str.len().mean(), rows.n_tokens.mean(), rows.gold.str.len().mean())
        cells[task] = f"{means[0]:.1f} / {means[1]:,.0f} / {means[2]:.2f}"
    lines = (carded / "README.md").read_text(encoding="utf-8").splitlines()
    assert "| config | fever | hotpotqa | nq |" in lines
    assert f"| `1k_p75` | {cells['fever']} | {cells['hotpotqa']} | {cells['nq']} |" in lines


def test_hostile_texts_break_no_table(small: Path) -> None:
    hostile = "a|b *c* `d`\n---\n| x | _y_ <b>&amp; [z](http://e) \\| ~~s~~ $1$ #"

    def spoil(rows: list[dict]) -> list[dict]:
        for row in rows:
            row["query"] = hostile
            for passage in row["passages"]:
                passage.update(title=hostile, text=hostile)
        return rows

    change_rows(small, "1k_p50", "test", spoil)
    manifest = manifest_of(small)
    manifest["inputs"]["knowledge"].update(licence='"x": |\n---\n- y', file=hostile)
    write(small / "manifest.json", manifest)
    (small / "validation.json").unlink()  # `change_rows` leaves one
    write_card(small)
    text = (small / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(text.split("---\n")[1])
    assert (head["license"], head["license_name"]) == (["other", "unknown"], "x-y")
    body = MARKDOWN.parse(text.split("\n---\n", 1)[1])
    example = next(at for at, token in enumerate(body) if token.content == "An example")
    cells = [token.children for token in body[example:] if token.type == "inline"]
    assert any(shown(children) == f"Query: {one_line(hostile)}" for children in cells)
    rows = "".join(token.type + "\n" for token in body).split("tr_open")
    widths = {row.count("td_open") for row in rows if "td_open" in row}
    assert widths <= {2, 3, 4, 5, 6, 7, 10}  # no cell was split: these are the widths of the card's own tables
    titles = [children for children in cells if shown(children) == one_line(hostile)]
    chosen = min((r for r in rows_of(small, "1k_p50", "test") if r["task"] == "fever"), key=flags_then_id)
    assert len(titles) == 2 * len(chosen["passages"]) + 1  # each title and text, and the file of the input


def flags_then_id(row: dict) -> tuple[int, str]:
    return len(row["flags"]), row["id"]


def shown(children: list | None) -> str:
    return "".join(token.content for token in children or [])


def one_line(text: str) -> str:
    return " ".join(text.split())


@given(st.text())
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    # the parser takes a null character for the replacement character, and drops half of a surrogate pair
    text = text.replace("\0", "").encode(errors="ignore").decode()
    table = MARKDOWN.parse(f"| a | b |\n| --- | --- |\n| x{escaped(text)}x | y |\n")
    cells = [shown(token.children) for token in table if token.type == "inline"]
    assert cells == ["a", "b", f"x{one_line(text)}x", "y"]


def test_without_confounders(dataset: Path) -> None:
    only(dataset, ["loft_2k"])
    (dataset / "validation.json").unlink()
    write_card(dataset)
    text = (dataset / "README.md").read_text(encoding="utf-8")
    assert "2k tokens that mix its gold passages with random passages" in text
    assert "**Retrieval.**" not in text
    assert "retrievers.png" not in text
    assert not (dataset / "figures" / "retrievers.png").exists()
    assert "are matched" not in text


def test_without_validation(carded: Path) -> None:
    text = (carded / "README.md").read_text(encoding="utf-8")
    assert "This dataset was not validated." in text
    assert "| Validation | not validated |" in text


def test_a_warning_is_explained(small: Path) -> None:
    warning = {"name": "gold_position", "says": "`gold` stands anywhere", "why": "The end | is favoured."}
    numbers = {"severity": "warning", "status": "failed", "unit": "split", "examined": 60, "failing": 3, "rate": 0.05}
    validation = validation_of(small)
    validation["checks"].append({**warning, **numbers})
    write(small / "validation.json", validation)
    write_card(small)
    text = (small / "README.md").read_text(encoding="utf-8")
    assert "| Validation | passed, with 1 warning |" in text
    assert "| schema | one schema | error | passed | 1,200 instances | 0 |" in text
    assert "- **gold_position** (3 of 60, 5.00%): The end \\| is favoured." in text
    assert "| gold_position | `gold` stands anywhere | warning | **failed** | 60 splits | 3 |" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [({"passed": False}, "**A check failed"), ({"complete": False}, "Not all checks ran on all configs")],
)
def test_what_did_not_pass_is_said(more: dict, says: str, small: Path) -> None:
    write(small / "validation.json", validation_of(small, **more))
    write_card(small)
    assert says in (small / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda v: v | {"manifest_sha256": "0" * 64}, "belongs to another build"),
        (lambda v: v | {"format": "icr2-validation/9"}, "does not have the format"),
        (lambda v: v | {"checks": [{"name": "x"}]}, "a check without"),
        (lambda v: [v], "does not have the format"),
    ],
)
def test_a_foreign_validation_is_refused(spoil: Callable[[dict], Any], says: str, small: Path) -> None:
    before = files_of(small)["README.md"]
    write(small / "validation.json", spoil(validation_of(small)))
    with pytest.raises(SetupError, match=f"{says}.*run: icr2 validate {small}"):
        write_card(small)
    assert files_of(small)["README.md"] == before


def test_the_rebuild_command_rebuilds(carded: Path, built: Path, tmp_path: Path) -> None:
    text = (carded / "README.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```bash\n(.*?)```", text, re.S) if "icr2 build" in b)
    recipe_line, build_line = block.strip().splitlines()
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    (tmp_path / "manifest.json").write_bytes((carded / "manifest.json").read_bytes())
    subprocess.run(["bash", "-euc", recipe_line], cwd=tmp_path, env={"PATH": path}, check=True)
    assert build_line == "icr2 build recipe.yaml --set data=FOLDER_OF_INPUTS --out again"
    recipe, base = load_recipe(str(tmp_path / "recipe.yaml"), [f"data={built.parent / 'kilt'}"])
    run_build(recipe, base, tmp_path / "again", tmp_path / "work", 1, Console(quiet=True))
    again, first = manifest_of(tmp_path / "again"), manifest_of(carded)
    assert (again["recipe_digest"], again["configs"]) == (first["recipe_digest"], first["configs"])


def test_the_command(small: Path) -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    done = CliRunner().invoke(app, ["card", str(small), "--published", "2026-11-30"])
    assert done.exit_code == 0, done.output
    assert json.loads((small / "croissant.json").read_text(encoding="utf-8"))["datePublished"] == "2026-11-30"
    refused = CliRunner().invoke(app, ["card", str(small), "--published", "yesterday"])
    assert isinstance(refused.exception, SetupError)


def test_the_bar_shows_only_in_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(record=True, force_terminal=True, file=io.StringIO())
    with late_bar("measuring", 2, console) as advance:
        advance()
    assert not console.export_text()
    monkeypatch.setattr("builders.bar.PATIENCE", -1.0)
    with late_bar("measuring", 2, console) as advance:
        advance()
    assert "measuring" in console.export_text()
