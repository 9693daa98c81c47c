"""A name of an option means the same in every command: its help begins the same, and it takes the same values."""

from collections import defaultdict
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

import pytest
import typer

import icr2_cli
from builders.options import MEANS


def commands(command: Any, name: str = "icr2") -> Iterator[tuple[str, Any]]:
    """Every command with its name, those of groups too."""
    for part, one in getattr(command, "commands", {}).items():
        yield from commands(one, f"{name} {part}")
    if not hasattr(command, "commands"):
        yield name, command


def kind(annotation: Any) -> Any:
    """The type of one value of an option: that of an item of a list, that beside None."""
    if get_origin(annotation) is list:
        return kind(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        (one,) = (part for part in get_args(annotation) if part is not type(None))
        return kind(one)
    return annotation


def named() -> dict[str, dict[str, Any]]:
    """Every option by its name, and by the command that has it."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for command, one in commands(typer.main.get_command(icr2_cli.app)):
        for option in one.params:
            if option.param_type_name == "option":
                found[option.opts[0].removeprefix("--").replace("-", "_")][command] = option
    return found


OPTIONS = named()
SHARED = sorted(name for name, found in OPTIONS.items() if len(found) > 1)


def test_there_are_shared_options() -> None:
    assert {"limit", "out", "config", "max_batch_tokens", "base_url", "price_in", "price_out", "shard"} <= {*SHARED}
    assert len(OPTIONS["limit"]) > 5


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_option_has_one_meaning_and_one_type(name: str) -> None:
    helps = {command: option.help for command, option in OPTIONS[name].items()}
    assert {command: help for command, help in helps.items() if not help.startswith(MEANS[name])} == {}
    assert len({kind(option.type_descriptor.annotation) for option in OPTIONS[name].values()}) == 1


@pytest.mark.parametrize("name", MEANS)
def test_every_meaning_is_that_of_an_option(name: str) -> None:
    assert name in OPTIONS


def test_no_two_names_have_one_meaning() -> None:
    first = {name: MEANS[name].partition(".")[0] for name in MEANS}
    assert len(set(first.values())) == len(first)


def test_every_command_is_under_a_heading() -> None:
    for part in (*icr2_cli.app.registered_commands, *icr2_cli.app.registered_groups):
        assert part.rich_help_panel in icr2_cli.PANELS
