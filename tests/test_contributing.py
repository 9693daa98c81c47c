"""CONTRIBUTING's table is true: one of each kind is added to a copy of the code by the files and the entry it names."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
FOREIGN = FIXTURES / "extension" / "icr2_sample"
OWN = FIXTURES / "additions"
PACKAGES = ("builders", "validation", "dataset_cards", "eval_harness")


class Row(NamedTuple):
    """A row of the table: the files to write, the registry and its file, and the group of entry points."""

    files: list[str]
    registry: str
    place: str
    group: str


class Addition(NamedTuple):
    """What is written into the files of a row, in their order, and what is put into its registry."""

    name: str
    files: list[Path]
    entry: str
    shown: str  # an expression over the registry that gives what it then says
    says: str
    imported: str = ""


ADDITIONS = {
    "a reader of sources": Addition(
        "sample",
        [FOREIGN / "reader.py"],
        '"sample": sample.READER,',
        "READERS['sample'].says",
        "lines of id, title and text, between tabs",
        "from builders.sources import sample",
    ),
    "a retriever": Addition(
        "sample",
        [FOREIGN / "retriever.py"],
        '"sample": Overlap,',
        "RETRIEVERS['sample'].says",
        "shared words, counted",
        "from builders.retrieve.sample import Overlap",
    ),
    "a kind of synthetic dataset": Addition(
        "sample",
        [OWN / "kind.py", OWN / "kind.yaml"],
        '"sample": sample.KIND,',
        "KINDS['sample'].says",
        "One question about the sky.",
        "from builders.synthetic import sample",
    ),
    "a stage": Addition(
        "sample",
        [OWN / "stage.py"],
        'Stage("sample", "write a sample", 1, (), (), plan_sample, make_sample),',
        "{stage.name: stage.says for stage in STAGES}['sample']",
        "write a sample",
        "from builders.stages.sample import make_sample, plan_sample",
    ),
    "a check": Addition(
        "lucky", [FOREIGN / "check.py"], '"lucky",', "NAMES and CHECKS['lucky'].says", "no query has the number 13"
    ),
    "a method": Addition(
        "sample",
        [FOREIGN / "method.py"],
        '"sample": First,',
        "OWN['sample'].says",
        "answers from the first N passages",
        "from eval_harness.methods.sample import First",
    ),
    "a scorer": Addition(
        "sample",
        [FOREIGN / "scorer.py"],
        '"sample": BEGINS,',
        "SCORERS['sample'].says",
        "an output that begins with an answer",
        "from eval_harness.scoring.sample import BEGINS",
    ),
    "a model back end": Addition(
        "sample",
        [FOREIGN / "back_end.py"],
        '"sample": Echo,',
        "BACK_ENDS['sample'].says + ': ' + load_model('sample:yes').generate(['?'], 9)[0].text",
        "the answer to every prompt: yes",
        "from eval_harness.models.sample import Echo",
    ),
    "a protocol": Addition(
        "sample",
        [OWN / "protocol.py", OWN / "command.py"],
        '"sample": sample.PROTOCOL,',
        "PROTOCOLS['sample'].says + ' ' + PROTOCOLS['sample'].document(Path('x'), None)[0].subtitle",
        "Run a sample. run x",
        "from eval_harness.commands import sample",
    ),
    "an experiment": Addition(
        "sample",
        [OWN / "experiment.py"],
        '"sample": SAMPLE,',
        "EXPERIMENTS['sample'].title",
        "A sample",
        "from eval_harness.experiments.sample import SAMPLE",
    ),
}
ELSEWHERE = {"a command", "an option of several commands"}  # their own tests look at them


def rows() -> dict[str, Row]:
    """The table by its first column."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.split("\n| to add |", 1)[1].split("\n\n")[0].splitlines()[2:]
    found = {}
    for line in table:
        what, write, entry, group = (cell.strip() for cell in line.split("|")[1:-1])
        registry, place = re.findall("`(.+?)`", entry)
        files = [name for name in re.findall("`(.+?)`", write) if "NAME" in name]
        found[what] = Row(files, registry, place, group.strip("`"))
    return found


def write_into(tree: Path, row: Row, addition: Addition) -> None:
    """Adds the files and the entry, as the row says."""
    assert len(row.files) == len(addition.files)
    for file, source in zip(row.files, addition.files, strict=True):
        target = tree / file.replace("NAME", addition.name)
        target.parent.mkdir(exist_ok=True)
        assert not target.exists()
        shutil.copyfile(source, target)
    place = tree / row.place
    before, found, after = place.read_text(encoding="utf-8").partition(f"\n{row.registry}")
    assert found, f"{row.place} has no {row.registry}"
    opening = re.search(r"\{\n" if '": ' in addition.entry else r"[\[(]\n", after)
    assert opening, f"{row.registry} opens no list of entries"
    after = f"{after[: opening.end()]}    {addition.entry}\n{after[opening.end() :]}"
    if addition.imported:
        before = re.sub(r"\n(?=from )", f"\n{addition.imported}\n", before, count=1)
    place.write_text(before + found + after, encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code with one of each kind added."""
    folder = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package)
    shutil.copyfile(ROOT / "icr2_cli.py", folder / "icr2_cli.py")
    table = rows()
    for what, addition in ADDITIONS.items():
        write_into(folder, table[what], addition)
    return folder


def run(tree: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def shown(tree: Path) -> dict[str, Any]:
    """What the registries of the copy say of the additions."""
    lines = ["import json", "from pathlib import Path", "from eval_harness.models import load_model", "found = {}"]
    table = rows()
    for what, addition in ADDITIONS.items():
        module = table[what].place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        lines += [f"from {module} import {table[what].registry}"]
        lines += ["from validation.checks import CHECKS"] * (what == "a check")
        lines += [f"found[{what!r}] = {addition.shown}"]
    ran = run(tree, "-c", "\n".join([*lines, "print(json.dumps(found))"]))
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_every_row_is_added() -> None:
    assert set(rows()) == set(ADDITIONS) | ELSEWHERE


@pytest.mark.parametrize("what", ADDITIONS)
def test_one_of_each_is_added_by_its_row(shown: dict[str, Any], what: str) -> None:
    assert shown[what] == ADDITIONS[what].says


def test_the_commands_know_what_was_added(tree: Path) -> None:
    built = run(tree, "-m", "icr2_cli", "build", "sample", "--out", "out", "--work", "work")
    assert built.returncode == 0, built.stderr
    manifest = json.loads((tree / "out" / "manifest.json").read_text())
    assert list(manifest["configs"]) == ["sample_1k"] and manifest["tasks"]["sky"]["kind"] == "qa"
    assert run(tree, "-m", "icr2_cli", "sample").stdout == "a sample was run\n"


@pytest.mark.parametrize("row", rows().values(), ids=list(rows()))
def test_what_a_row_names_is_there(row: Row) -> None:
    assert re.search(rf"^{row.registry}\b", (ROOT / row.place).read_text(encoding="utf-8"), re.MULTILINE)
    if row.group:
        assert f'"{row.group}"' in (ROOT / row.place).read_text(encoding="utf-8")


def test_the_page_on_extending_knows_every_group_and_shows_the_retriever_as_it_is() -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(icr2\.\w+)`", page, re.MULTILINE)) == {row.group for row in rows().values()} - {""}
    assert f"```python\n{(FOREIGN / 'retriever.py').read_text(encoding='utf-8')}```" in page
    (shown,) = re.findall(r"```toml\n(.+?)```", page, re.DOTALL)
    project = tomllib.loads((FIXTURES / "extension" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = project["entry-points"]
    for group, points in tomllib.loads(shown)["project"]["entry-points"].items():
        assert ours[group] == points
