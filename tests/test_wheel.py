"""The wheel holds all that the command reads: recipes, questions, the list of bundled packages."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ("builders", "validation", "dataset_cards", "eval_harness")


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    for name in SOURCES:
        shutil.copytree(ROOT / name, tmp_path / "tree" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("icr2_cli.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / "tree")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([*build, "--wheel-dir", str(tmp_path)], cwd=tmp_path / "tree", check=True)
    with ZipFile(next(tmp_path.glob("icr2-*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        assert "icr2 = icr2_cli:main" in wheel.read(entry).decode()
    wanted = {
        str(path.relative_to(ROOT))
        for name in SOURCES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == wanted | {"icr2_cli.py"}
    assert {"builders/recipes/demo.yaml", "builders/demo/wow.jsonl", "builders/bundled.txt"} <= packed
