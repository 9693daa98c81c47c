"""The layout: who may import whom, also through other files, no circles, short files, nothing heavy or unsafe."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import ROOT, circles, graph, imported, loaded, modules, within

ALLOWED = {
    "builders": {"builders"},
    "validation": {"validation", "builders"},
    "dataset_cards": {"dataset_cards", "validation", "builders"},
    "eval_harness": {"eval_harness", "builders"},
    "benchmarks": {"benchmarks", "builders", "eval_harness"},
}
# A check that calls the filter it checks repeats its bug: what validation imports of builders, and what that needs.
VALIDATION_IMPORTS = set(
    "registry schema config errors tokens text prompts tasks files manifest format1 records sql display typed".split()
)
VALIDATION_LOADS = VALIDATION_IMPORTS | {"bundled", "hub", "marks", "registry"}
STEPS = (
    "data conditions models probing parsing scoring methods run report protocols train experiments lm_eval commands"
).split()
FILES = [path for folder in ALLOWED for path in sorted((ROOT / folder).rglob("*.py"))]
MODULES = modules()
LINKS = graph(MODULES)
FOLDERS = sorted({"", *(name for name, path in MODULES.items() if path.name == "__init__.py")})


def test_there_are_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} >= {"builders", "eval_harness"}
    assert len(MODULES) > 300


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    ours = {name.split(".")[0] for name in imported(path)} & {*ALLOWED, "icr2_cli", "tests"}
    assert ours <= ALLOWED[path.relative_to(ROOT).parts[0]]


def test_the_schema_imports_nothing_of_ours() -> None:
    assert LINKS["builders.schema"] == set()


def test_no_circle_of_files() -> None:
    assert circles(LINKS) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder or "root")
def test_no_circle_of_folders(folder: str) -> None:
    assert circles(within(folder, LINKS)) == []


def test_circles_are_found_through_other_files_and_folders() -> None:
    links = {"a": {"b.c"}, "b": set(), "b.c": {"d"}, "d": {"a"}, "b.e": {"f"}, "f": {"b"}, "g": {"a"}}
    assert circles(links) == [["a", "b.c", "d"]]
    assert circles(within("", links)) == [["a", "b", "d", "f"]]
    assert circles(within("b", links)) == []
    assert loaded(["g"], links) == {"g", "a", "b", "b.c", "d"}


def test_validation_takes_of_builders_what_is_no_part_of_a_build() -> None:
    taken = {
        f"{name} -> {other}"
        for name, others in LINKS.items()
        if name.startswith("validation.")
        for other in others
        if other.startswith("builders.") and other.removeprefix("builders.") not in VALIDATION_IMPORTS
    }
    assert taken == set()


def test_validation_loads_no_part_of_a_build_through_other_files() -> None:
    start = [name for name in MODULES if name.split(".")[0] == "validation"]
    found = {name.removeprefix("builders.") for name in loaded(start, LINKS) if name.startswith("builders.")}
    assert found <= VALIDATION_LOADS


def test_running_the_suite_imports_no_part_of_a_build() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import sys, validation.suite; print(*sys.modules)"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout.split()  # fmt: skip
    ours = {name for name in said if name.startswith("builders.")}
    assert "validation.suite" in said
    assert not {name.split(".")[1] for name in ours} & {"filters", "mix", "engine", "retrieve"}
    assert ours <= {f"builders.{name}" for name in VALIDATION_LOADS}


def test_each_step_of_the_harness_has_its_folder() -> None:
    there = {path.name for path in (ROOT / "eval_harness").iterdir() if path.name != "__pycache__"}
    assert there == {"__init__.py", *STEPS}


@pytest.mark.parametrize("step", STEPS)
def test_steps_of_the_harness_import_only_steps_before_them(step: str) -> None:
    taken = within("eval_harness", LINKS)[f"eval_harness.{step}"]
    allowed = {f"eval_harness.{before}" for before in STEPS[: STEPS.index(step)]}
    assert taken <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short_and_load_nothing_heavy(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 300
    heavy = {"torch", "faiss", "jnius", "transformers", "sentence_transformers", "numba", "bm25s", "matplotlib"}
    top = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {a.name for n in top if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module or "" for n in top if isinstance(n, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in names} & heavy


def test_files_of_tests_stay_short_too() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in sorted((ROOT / "tests").rglob("*.py"))}
    assert [str(path.relative_to(ROOT)) for path, n in lines.items() if n > 300] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_unsafe(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not imported(path) & {"pickle", "marshal", "shelve"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id in ("eval", "exec")]
    keywords = {k.arg: k.value for c in calls for k in c.keywords}
    remote = keywords.get("trust_remote_code")
    assert remote is None or (isinstance(remote, ast.Constant) and remote.value is False)
    bare = [n for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.type is None]
    assert not bare
