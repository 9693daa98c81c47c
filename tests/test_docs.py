"""Every command and code block of README and docs runs, in a folder that holds the demo dataset as `icr2`."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.core import TyperGroup

import icr2_cli
from builders.bundled import bundled_file
from eval_harness.models.gguf import gguf_digest
from tests import demo_runs
from tests.eval_harness.conftest import save_network

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]
BLOCK = re.compile(r"^```(bash|python|yaml)\n(.*?)^```$", re.M | re.S)
NOT_HERE = re.compile(
    r"^```text\n(.*?)^```$|^    (icr2 .*)$", re.M | re.S
)  # needs hours, a GPU or files that a user has

# What a test cannot run: it would install, or take longer than all tests together. `make` is asked what it would do.
NOT_RUN = ("pipx ", "pip install", "git clone")
RUN_BEFORE = (
    "icr2 build demo --out icr2",
    "icr2 validate icr2",
    "icr2 validate icr2 --html report",
)  # by the fixture `demo`
_SHELL = set("|&;<>()$`")
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


@pytest.fixture(scope="module", autouse=True)
def small_model(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In place of the bundled model's weights a random model of two layers, which reads the same tokens."""
    cache = tmp_path_factory.mktemp("cache")
    folder = cache / "models" / f"smollm2-{gguf_digest(bundled_file('smollm2'))[:16]}"
    save_network(folder, positions=8192, vocab_size=len(tokenizer), bos_token_id=1, eos_token_id=2)
    tokenizer.save_pretrained(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ICR2_CACHE", str(cache))
        yield


@pytest.fixture(scope="module")
def done() -> list[list[str]]:
    """Commands that earlier blocks ran in this folder: pages repeat them, and what they left is still there."""
    return []


@pytest.mark.slow
@pytest.mark.parametrize(("language", "text"), BLOCKS)
def test_block(language: str, text: str, folder: Path, done: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    if language == "yaml":
        assert isinstance(yaml.safe_load(text), dict)
        return
    if language == "python":
        _run([sys.executable, "-c", text], folder)
        return
    lines = [_runnable(line) for line in text.replace("\\\n", " ").splitlines()]
    if commands := plain_commands(lines):
        monkeypatch.chdir(folder)
        for command in (one for one in commands if one not in done):
            monkeypatch.setattr(sys, "argv", command)
            with pytest.raises(SystemExit) as stop:
                icr2_cli.main()
            assert not stop.value.code, command
            done.append(command)
    else:
        _run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], folder)


def plain_commands(lines: list[str]) -> list[list[str]]:
    """The commands of lines that call `icr2` and nothing of a shell; they run in this process, which loads less."""
    words = [_words(line) for line in lines if _words(line)]
    plain = all(one[0] == "icr2" and not any(set(word) <= _SHELL for word in one) for one in words)
    return words if plain else []


def _words(line: str) -> list[str]:
    found = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()$`")
    found.whitespace_split = True
    try:
        return list(found)
    except ValueError:  # a quoted text goes on in the next line
        return ["|"]


def _runnable(line: str) -> str:
    if line.split(" #")[0].rstrip() in RUN_BEFORE:
        return f"# {line}"
    if line.startswith(NOT_RUN):
        return f"# {line}"
    if line.startswith("icr2 build demo "):  # with the fixture's runs in place of retrievers
        return line.replace("icr2 build demo ", f"icr2 build demo --set runs={shlex.quote(str(demo_runs.FOLDER))} ")
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
