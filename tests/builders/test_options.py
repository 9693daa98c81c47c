"""Groups of options: dataclasses among a command's parameters become its options."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from builders.options import DatasetFolder, grouped, option


@dataclass(frozen=True)
class Which:
    config: Annotated[list[str], option("config", "Repeat for several.")]
    limit: Annotated[int | None, option("limit", min=1)] = None


@dataclass(frozen=True)
class First(Which):
    limit: Annotated[int, option("limit", min=1)] = 10


@dataclass(frozen=True)
class Pace:
    batch_size: Annotated[int, option("batch_size", panel="Speed")] = 1
    dry_run: Annotated[bool, option("dry_run", "", "--dry-run")] = False


def called(group: type[Which], *arguments: str) -> list[object]:
    """What a command of two groups was called with."""
    given: list[object] = []

    def command(*, folder: DatasetFolder, which: group, out: Path = Path("here"), pace: Pace) -> None:  # type: ignore[valid-type]
        """Does nothing."""
        given.extend([folder, which, out, pace])

    app = typer.Typer()
    app.command()(grouped(command))
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code in (0, 2), done.output
    return given or [done.output]


def test_a_command_is_called_with_its_groups() -> None:
    folder, which, out, pace = called(Which, "d", "--config", "a", "--config", "b", "--out", "there", "--dry-run")
    assert (folder, out) == (Path("d"), Path("there"))
    assert which == Which(["a", "b"], None)
    assert pace == Pace(1, True)


def test_a_group_may_change_the_defaults_of_another() -> None:
    assert called(First, "d", "--config", "a")[1] == First(["a"], 10)
    assert called(First, "d", "--config", "a", "--limit", "3")[1] == First(["a"], 3)


def test_types_and_bounds_are_those_of_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Missing option '--config'" in str(called(Which, "d")[0])
    assert "Invalid value for '--limit'" in str(called(Which, "d", "--config", "a", "--limit", "0")[0])


def test_help_shows_the_fields_in_their_panels_and_the_words_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (help,) = called(Which, "--help")
    for words in ("Does nothing.", "Config, such as 1k_p75. Repeat for several.", "[required]", "─ Speed ─"):
        assert words in str(help)


def test_two_groups_cannot_have_one_name() -> None:
    def command(*, which: Which, first: First) -> None:
        """Does nothing."""

    with pytest.raises(ValueError, match="duplicate parameter name: 'config'"):
        grouped(command)
