"""What is printed: data as it is, in every command."""

import ast
import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from builders.display import Terminal, plain, say
from tests.imports import ROOT

FILES = [
    path
    for folder in ("builders", "validation", "dataset_cards", "eval_harness")
    for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
    if path.name != "display.py"
]
ESCAPES = {
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "a\rb\x08\x7f": r"a\rb\x08\x7f",
    "\x9b31m": r"\x9b31m",
    "a\u202eb": r"a\u202eb",
    "tab\tand\nline": "tab\tand\nline",
    "naïve 中文 🙂": "naïve 中文 🙂",
    "\ud800": r"\ud800",
}


@pytest.mark.parametrize("text", ESCAPES)
def test_control_characters_are_shown_as_text(text: str) -> None:
    assert plain(text) == ESCAPES[text]


@pytest.mark.parametrize("text", ["[bold]red[/bold]", "closes [/INST]", "ds [v1]", ":smile:", "a\\[b]", "x" * 300])
def test_a_line_is_printed_as_it_is(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(text)
    assert capsys.readouterr().out == f"{text}\n"
    say(text, stderr=True)
    assert capsys.readouterr().err == f"{text}\n"


def test_styles_stay_and_escapes_in_data_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", stream)
    terminal = Terminal(width=80)
    terminal.print(Text("one \x1b[2J", style="bold green"))
    table = Table("[h]", title="[t]")
    table.add_row(Text("two \x1b[3J"), "three \x1b[4J [/x]")
    terminal.print(table)
    out = stream.getvalue()
    assert "\x1b[1;32m" in out and "[2J" in out and "[/x]" in out and "[h]" in out and "[t]" in out
    assert not any(f"\x1b[{n}J" in out for n in (2, 3, 4))


@pytest.mark.parametrize("arguments", [["sql", "--help"], ["sql", "nowhere-é中", "SELECT 1"], ["nope-é中"]])
def test_what_the_encoding_lacks_is_replaced(arguments: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "icr2_cli", *arguments],
        capture_output=True, cwd=ROOT, env={"PYTHONIOENCODING": "ascii", "PATH": "", "HOME": str(tmp_path)},
    )  # fmt: skip
    said = (done.stdout + done.stderr).decode("ascii")
    assert "Traceback" not in said and "nowhere-é" not in said
    assert done.returncode == (0 if "--help" in arguments else 2)


def test_only_one_module_prints() -> None:
    """Whoever prints by another way prints data as mark-up, or terminal escapes as they are."""
    found = []
    others = {"Console", "typer.echo", "typer.secho", "click.echo", "print"}
    for path in FILES:
        calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
        found += [f"{path.relative_to(ROOT)}:{call.lineno}" for call in calls if ast.unparse(call.func) in others]
    assert found == []
