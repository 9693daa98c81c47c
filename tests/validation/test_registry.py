"""A check of another package runs and is reported as any of ours."""

import json
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from builders.errors import SetupError
from icr2_cli import app
from validation.checks import CHECKS
from validation.checks.base import Check
from validation.measures import Measures

FIXTURE = Path(__file__).parents[1] / "fixtures" / "format1" / "controlled"


def _find(m: Measures) -> str:
    return """SELECT "row", NULL AS pid, 'asks where' AS detail FROM instances JOIN questions USING (question)
              WHERE starts_with(query_normal, 'in which')"""


NO_PLACES = Check("places", "no query asks for a place", "places are easy", "warning", "instance", _find)


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that registers NO_PLACES, and one that registers something other than a check."""
    points = {
        name: EntryPoint(name, f"tests.validation.test_registry:{value}", CHECKS.group)
        for name, value in {"no_places": "NO_PLACES", "broken": "FIXTURE"}.items()
    }
    monkeypatch.setitem(CHECKS.__dict__, "_foreign", points)
    monkeypatch.setattr(CHECKS, "_loaded", {})


def test_its_findings_are_reported(foreign: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHECKS.__dict__, "_foreign", {"no_places": CHECKS._foreign["no_places"]})
    folder = shutil.copytree(FIXTURE, tmp_path / "data")
    done = CliRunner().invoke(app, ["validate", str(folder), "--only", "no_places", "--only", "ids"])
    assert done.exit_code == 0, done.output
    found = json.loads((folder / "validation.json").read_text(encoding="utf-8"))["checks"]
    assert [check["name"] for check in found if check["status"] != "skipped"] == ["ids", "no_places"]
    assert (found[-1]["name"], found[-1]["status"], found[-1]["severity"]) == ("no_places", "failed", "warning")
    assert found[-1]["failing"] > 0 and "no_places" in done.output


def test_what_is_no_check_is_said_in_one_line(foreign: None, tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURE, tmp_path / "data")
    done = CliRunner().invoke(app, ["validate", str(folder), "--only", "broken"])
    assert isinstance(done.exception, SetupError)
    assert str(done.exception).startswith("the check 'broken' (tests.validation.test_registry:FIXTURE) is of type")
