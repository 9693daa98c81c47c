"""The page that says what is as in the papers names commands, options, recipes and experiments that are there."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from builders.load_recipe import find_recipe
from eval_harness.experiments.registry import EXPERIMENTS
from icr2_cli import app

PAGE = Path(__file__).parents[1] / "docs/fidelity.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = sorted({found for line in TEXT.splitlines() for found in re.findall(r"`(icr2 [^`]+)`", line)})
TABLE = [line for line in TEXT.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("written", COMMANDS)
def test_a_command_that_is_named_exists(written: str) -> None:
    _, *words = shlex.split(written)
    command = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]  # type: ignore[attr-defined]
    assert not getattr(command, "commands", {}), f"{written}: {words[:1]} is no command"
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options
    plain = [word for at, word in enumerate(words) if word[0] != "-" and not (at and words[at - 1].startswith("--"))]
    if command.name == "experiment":
        assert plain and {*plain} <= {*EXPERIMENTS}
    if command.name == "build":
        assert plain and all(find_recipe(name).is_file() for name in plain)


def test_every_part_says_same_deviates_or_missing() -> None:
    said = [line.split(" | ")[1] for line in TABLE if not line.startswith(("| part ", "| --- "))]
    assert len(said) > 50
    assert [one for one in said if not re.match("same|deviates|missing|by hand", one)] == []


def test_every_experiment_has_its_line() -> None:
    named = {word for command in COMMANDS for word in command.split()}
    assert {*EXPERIMENTS} <= named
