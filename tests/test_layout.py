"""The direction of imports: builders <- validation <- dataset_cards, builders <- eval_harness, and nothing else."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "builders": {"builders"},
    "validation": {"validation", "builders"},
    "dataset_cards": {"dataset_cards", "validation", "builders"},
    "eval_harness": {"eval_harness", "builders"},
    "benchmarks": {"benchmarks", "builders", "eval_harness"},
}
# A check that calls the filter it checks repeats its bug.
FROM_BUILDERS = {
    "validation": {"schema", "config", "errors", "tokens", "text", "prompts", "load_recipe"},
}
FILES = [path for folder in ALLOWED for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(path: Path) -> set[str]:
    """Every module that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_there_are_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} >= {"builders", "eval_harness"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[0]
    ours = {name for name in imports(path) if name.split(".")[0] in (*ALLOWED, "icr2_cli", "tests", "benchmarks")}
    assert {name.split(".")[0] for name in ours} <= ALLOWED[folder]
    if folder in FROM_BUILDERS:
        assert {name.split(".")[1] for name in ours if name.startswith("builders.")} <= FROM_BUILDERS[folder]


def test_the_schema_imports_nothing_of_ours() -> None:
    assert not {name for name in imports(ROOT / "builders/schema.py") if name.split(".")[0] in ALLOWED}


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
    assert not imports(path) & {"pickle", "marshal", "shelve"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id in ("eval", "exec")]
    keywords = {k.arg: k.value for c in calls for k in c.keywords}
    remote = keywords.get("trust_remote_code")
    assert remote is None or (isinstance(remote, ast.Constant) and remote.value is False)
    bare = [n for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler) and n.type is None]
    assert not bare
