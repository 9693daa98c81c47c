"""Makes the package of tests/fixtures/extension visible to a process, without installing it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "tests" / "fixtures" / "extension"


def write_site(folder: Path) -> Path:
    """A folder as pip would fill it: the package, and what its pyproject says of it, entry points included."""
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(SOURCE / "icr2_sample", folder / "icr2_sample")
    info = folder / f"icr2_sample-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items())])
        for group, points in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n\n".join(groups) + "\n", encoding="utf-8")
    return folder


def icr2(*arguments: object, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own, which sees the package where `site` is given."""
    paths = [*([str(site)] if site else []), str(ROOT)]
    return subprocess.run(
        [sys.executable, "-m", "icr2_cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=240,
    )
