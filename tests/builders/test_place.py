"""Where a dataset is written: nothing is deleted but an earlier build of it, and nothing is half there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from builders import files, pipeline
from builders.errors import SetupError
from builders.load_recipe import load_recipe
from builders.pipeline import run_build
from builders.place import clear_leftovers, target_of
from builders.work import Build, only_one
from tests.builders.tiny import write_tiny_kilt
from tests.imports import ROOT

SMALL = ("lengths=[1k]", "ratios=[0]", "loft=[]")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, and a work folder in which all but the last step is done."""
    folder = tmp_path_factory.mktemp("place")
    write_tiny_kilt(folder / "kilt")
    build(folder, folder / "first")
    return folder


def build(base: Path, out: Path, name: str = "tiny", overwrite: bool = False, version: str = "1.0.0") -> Build[Any]:
    settings = [*SMALL, f"name={name}", f"version={version}"]
    recipe, folder = load_recipe(str(base / "kilt/recipe.yaml"), settings, 2)
    return run_build(recipe, folder, out, base / "work", 1, Console(quiet=True), overwrite)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_another_dataset_is_replaced_only_if_asked(base: Path, tmp_path: Path) -> None:
    build(base, tmp_path / "out", "other")
    before = everything(tmp_path / "out")
    with pytest.raises(SetupError, match=r"holds the dataset 'other', not 'tiny'.*--overwrite"):
        build(base, tmp_path / "out")
    assert everything(tmp_path / "out") == before
    build(base, tmp_path / "out", overwrite=True)
    assert json.loads((tmp_path / "out/manifest.json").read_text())["name"] == "tiny"


def test_another_dataset_that_came_during_the_build_is_not_replaced(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two builds with work folders of their own and one output folder."""
    build(base, tmp_path / "other", "other")
    run = pipeline._run_stages

    def meanwhile(*arguments: Any) -> None:
        run(*arguments)
        shutil.copytree(tmp_path / "other", tmp_path / "out")

    monkeypatch.setattr(pipeline, "_run_stages", meanwhile)
    with pytest.raises(SetupError, match=r"holds the dataset 'other', not 'tiny'"):
        build(base, tmp_path / "out")
    assert everything(tmp_path / "out") == everything(tmp_path / "other")


def test_a_new_version_replaces_the_old_one_with_all_that_commands_wrote(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(base, out)
    for name in ("validation.json", "statistics.json", "croissant.json", "figures/tokens.png", "figures/.x.7.partial"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).touch()
    build(base, out, version="1.1.0")
    assert {path.name for path in out.iterdir()} == {"manifest.json", "README.md", "1k_p0"}


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        ("runs/one/results.jsonl", "runs"),
        ("notes.txt", "notes.txt"),
        ("nq.jsonl", "nq.jsonl"),  # a source, by the path that the manifest's recipe has
        ("1k_p0/notes.txt", "1k_p0/notes.txt"),
        ("figures/mine.png", "figures"),
        ("manifest.json.bak", "manifest.json.bak"),
        ("1k_p0/test.parquet", "1k_p0/test.parquet"),
    ],
)
def test_files_of_the_user_stay(base: Path, tmp_path: Path, overwrite: bool, theirs: str, named: str) -> None:
    out = tmp_path / "out"
    build(base, out)
    (out / theirs).parent.mkdir(parents=True, exist_ok=True)
    (out / theirs).write_text("mine")
    before = everything(out)
    with pytest.raises(SetupError, match=f"did not write: {named};"):
        build(base, out, version="1.1.0", overwrite=overwrite)
    assert everything(out) == before
    assert build(base, out).unchanged  # nothing needs to be replaced


def test_a_link_and_an_empty_folder_of_the_user_stay_too(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(base, out)
    (tmp_path / "big.png").touch()
    (out / "README.md").unlink()
    (out / "README.md").symlink_to(tmp_path / "big.png")
    (out / "runs").mkdir()
    with pytest.raises(SetupError, match=r"did not write: README\.md, runs;"):
        build(base, out, version="1.1.0")


def test_it_is_refused_before_anything_is_built(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(base, tmp_path / "out", "other")
    monkeypatch.setattr("builders.pipeline._run_stages", lambda *_: pytest.fail("stages were run"))
    with pytest.raises(SetupError, match="holds the dataset"):
        build(base, tmp_path / "out")


@pytest.mark.parametrize("manifest", ["", "[]", '{"format": "icr2-manifest/9"}', '{"name": 7}', "[" * 100_000])
def test_a_broken_manifest_does_not_keep_a_dataset_from_being_built_again(
    base: Path, tmp_path: Path, manifest: str
) -> None:
    out = tmp_path / "out"
    build(base, out)
    (out / "manifest.json").write_text(manifest)
    if "7" in manifest:
        with pytest.raises(SetupError, match="holds the dataset 7"):
            build(base, out)
    assert not build(base, out, overwrite="7" in manifest).unchanged
    assert everything(out) == everything(base / "first")


def test_an_unchanged_dataset_stays_as_it_is(base: Path, tmp_path: Path) -> None:
    out = shutil.copytree(base / "first", tmp_path / "out")  # as after a download, with other inodes
    (out / "validation.json").write_text("{}")
    (out / "README.md").write_text("the card of icr2 card")
    before = everything(out)
    assert build(base, out).unchanged
    assert everything(out) == before
    parquet = next(out.rglob("*.parquet"))
    content = parquet.read_bytes()
    parquet.write_bytes(content[:9] + b"PAR1" + content[13:])
    assert not build(base, out).unchanged
    assert parquet.read_bytes() == content
    assert not (out / "validation.json").exists()


def test_a_file_edited_through_its_link_to_the_work_folder_is_made_again(base: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(base, tmp_path / "base")
    build(mine, mine / "linked", version="1.0.1")
    parquet = next((mine / "linked").rglob("*.parquet"))
    assert parquet.stat().st_nlink > 1
    content = parquet.read_bytes()
    with parquet.open("r+b") as file:  # the same file, which the work folder has too
        file.seek(9)
        file.write(b"PAR1")
    assert not build(mine, mine / "linked", version="1.0.1").unchanged
    assert parquet.read_bytes() == content


def test_a_link_is_followed(base: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk/target").mkdir()  # an empty folder may be written to
    (tmp_path / "link").symlink_to("disk/target")
    build(base, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert everything(tmp_path / "disk/target") == everything(base / "first")
    build(base, tmp_path / "link", version="1.1.0")
    assert json.loads((tmp_path / "disk/target/manifest.json").read_text())["version"] == "1.1.0"
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["target"]


def test_a_link_to_nothing_is_refused(base: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(SetupError, match="is a link to nowhere, which does not exist"):
        build(base, tmp_path / "link")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(SetupError, match="is a link to circle, which does not exist"):
        target_of(tmp_path / "circle")
    assert len([*tmp_path.iterdir()]) == 2


def test_a_work_folder_that_is_removed_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="was removed during the build"), only_one_of(tmp_path / "work"):
        shutil.rmtree(tmp_path / "work")
        (tmp_path / "work/stages/mix/a.arrow").read_bytes()
    with pytest.raises(FileNotFoundError), only_one_of(tmp_path / "work"):
        (tmp_path / "work/stages/mix/a.arrow").read_bytes()


def only_one_of(work: Path) -> Any:
    work.mkdir(exist_ok=True)
    return only_one(work)


KILLED = """
import os, signal, sys
from pathlib import Path
from builders import files

def kill(event, arguments):
    if event in ("os.rename", "shutil.rmtree") and armed and not count.pop():
        os.kill(os.getpid(), signal.SIGKILL)

folder, armed, count = Path(sys.argv[1]), [], list(range(int(sys.argv[2]) + 1))
files._exchanged = files._exchanged if sys.argv[3] == "exchange" else lambda *_: False
sys.addaudithook(kill)
with files.replacing(folder / "out") as partial:
    partial.mkdir()
    (partial / "new").touch()
    armed.append(True)
"""


@pytest.mark.parametrize("how", ["exchange", "two renames"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_killed_between_any_two_steps_a_folder_is_the_old_one_or_the_new_one(at: int, how: str, tmp_path: Path) -> None:
    """Killed before the renames and the removal of the old folder; after two renames it is found again."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/old").touch()
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(at), how]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    if how == "exchange":
        assert [path.name for path in (tmp_path / "out").iterdir()] in (["old"], ["new"])
    clear_leftovers(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    found = [path.name for path in (tmp_path / "out").iterdir()]
    assert found == ["new"] if (how, at) in (("two renames", 2), ("exchange", 0)) or at == 2 else ["old"]


def test_leftovers_of_other_names_are_not_touched(tmp_path: Path) -> None:
    """A name is no pattern, and only what replacing() names is its own."""
    names = [".ds1.7.partial", ".ds.partial", ".ds.mine.partial", ".ds.7.partial.txt", "ds.7.partial"]
    for name in (*names, ".ds.7.partial", ".ds.8.old.partial"):
        (tmp_path / name).touch()
    (tmp_path / "ds").mkdir()
    clear_leftovers(tmp_path / "ds")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "ds"])
    assert files.own_leftovers(tmp_path / "nowhere/ds", ".partial") == []
