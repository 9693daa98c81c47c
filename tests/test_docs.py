"""Every command and code block of README and docs runs, in a folder that holds the demo dataset as `icr2`."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup

import icr2_cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]
BLOCK = re.compile(r"^```(bash|python|yaml)\n(.*?)^```$", re.M | re.S)
NOT_HERE = re.compile(
    r"^```text\n(.*?)^```$|^    (icr2 .*)$", re.M | re.S
)  # needs hours, a GPU or files that a user has

# What a test cannot run: it would install, or take longer than all tests together. `make` is asked what it would do.
NOT_RUN = ("pipx ", "pip install", "git clone")
BLOCKS = [
    pytest.param(language, text, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    if page.exists()
    for number, (language, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1)
]


@pytest.fixture(scope="module")
def folder(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder: the demo dataset and its work folder, by the names that the pages use."""
    here = tmp_path_factory.mktemp("reader")
    shutil.copytree(demo, here / "icr2")
    (here / "icr2.work").symlink_to(demo.with_name("icr2.work"))
    return here


@pytest.mark.slow
@pytest.mark.parametrize(("language", "text"), BLOCKS)
def test_block(language: str, text: str, folder: Path) -> None:
    if language == "yaml":
        assert isinstance(yaml.safe_load(text), dict)
    elif language == "python":
        _run([sys.executable, "-c", text], folder)
    else:
        script = "\n".join(_runnable(line) for line in text.splitlines())
        _run(["bash", "-euo", "pipefail", "-c", script], folder)


def _runnable(line: str) -> str:
    if line.startswith(NOT_RUN):
        return f"# {line}"
    if line.startswith("python -m benchmarks"):  # minutes; tests/benchmarks runs each on small inputs
        return f"PYTHONPATH={ROOT} {' '.join(line.split()[:3])} --help > /dev/null"
    if line.startswith("make "):
        return f"make --dry-run --directory {ROOT} {line.split()[1]} > /dev/null"
    return line


def _run(command: list[str], folder: Path) -> None:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def commands(page: Path) -> list[list[str]]:
    """The `icr2` commands of a page that no test runs."""
    found = []
    for block, line in NOT_HERE.findall(page.read_text(encoding="utf-8")):
        for command in (block or line).replace("\\\n", " ").splitlines():
            before, called, arguments = command.partition("icr2_cli " if "icr2_cli " in command else "icr2 ")
            if called and (not before or before.startswith("accelerate launch")):
                found.append(shlex.split(arguments))
    return found


ELSEWHERE = [(page.name, arguments) for page in PAGES for arguments in commands(page)]


def test_there_are_commands_for_elsewhere() -> None:
    assert len(ELSEWHERE) > 10


@pytest.mark.parametrize(("page", "arguments"), ELSEWHERE, ids=[f"{page}-{' '.join(a[:2])}" for page, a in ELSEWHERE])
def test_what_is_not_run_here_is_a_command_with_its_options(page: str, arguments: list[str]) -> None:
    command, context = typer.main.get_command(icr2_cli.app), None
    while isinstance(command, TyperGroup):
        context = command.make_context(command.name, arguments, parent=context)
        _, command, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
        assert command is not None, page
    command.make_context(command.name, arguments, parent=context)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"
