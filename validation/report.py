"""The reports of the suite: validation.json, a table, and an HTML page."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from builders.display import plain
from builders.files import replacing, write_json
from validation.dataset import Dataset
from validation.known import known_issues
from validation.suite import Outcome

FORMAT = "icr2-validation/1"


def report(dataset: Dataset, outcomes: list[Outcome]) -> dict[str, Any]:
    """The content of validation.json: tied to the manifest, without timestamps or machine names."""
    known = known_issues(dataset.manifest.name)
    checks = [_described(outcome, known.get(outcome.check.name, 0)) for outcome in outcomes]
    return {
        "format": FORMAT,
        "dataset": dataset.manifest.name,
        "version": dataset.manifest.version,
        "manifest_sha256": dataset.manifest.sha256,
        "complete": dataset.whole and all(check["status"] != "skipped" for check in checks),
        "passed": not failures({"checks": checks}, "error"),
        "checks": checks,
        "written_with": {name: version(name) for name in ("duckdb", "great_expectations")},
    }


def _described(outcome: Outcome, known: int) -> dict[str, Any]:
    check = outcome.check
    return {
        "name": check.name,
        "says": check.says,
        "severity": check.severity,
        "status": outcome.status,
        "unit": check.unit,
        "examined": outcome.examined,
        "failing": outcome.failing,
        "rate": round(outcome.failing / outcome.examined, 6) if outcome.examined else 0.0,
        "known": known if check.severity == "warning" else 0,
        "why": check.why,
        "ids": outcome.ids,
        "figures": outcome.figures,
    }


def failures(content: dict[str, Any], fail_on: str) -> list[str]:
    """The checks for which a run fails: errors, and with `warning` also warnings beyond the known issues."""
    return [
        check["name"]
        for check in content["checks"]
        if check["status"] == "failed"
        and (check["severity"] == "error" or (fail_on == "warning" and check["failing"] > check["known"]))
    ]


def write_report(content: dict[str, Any], path: Path) -> None:
    """Writes validation.json by one rename."""
    write_json(path, content, sort_keys=False, indent=1)


def write_html(content: dict[str, Any], folder: Path) -> Path:
    """Writes the report as one self-contained page, `index.html`; returns its path."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = folder / "index.html"
    with replacing(page) as partial:
        partial.write_text(environment.get_template("report.html.j2").render(**content), encoding="utf-8")
    return page


_MARK = {
    "passed": Text("passed", "green"),
    "skipped": Text("skipped", "dim"),
    "error": Text("FAILED", "bold red"),
    "warning": Text("warning", "yellow"),
    "known": Text("known", "dim"),
}


def _result(check: dict[str, Any]) -> str:
    if check["status"] != "failed":
        return str(check["status"])
    return "known" if 0 < check["failing"] <= check["known"] else str(check["severity"])


def table(content: dict[str, Any]) -> Table:
    """The report for a terminal: one line per check, cut to the terminal's width."""
    shown = Table(expand=True)
    for name, width in (("check", 17), ("", 7), ("failing", 7), ("of", 17)):
        shown.add_column(name, min_width=width)
    shown.add_column("what is checked", no_wrap=True, overflow="ellipsis", ratio=1)
    for check in content["checks"]:
        mark = _MARK[_result(check)]
        failing = f"{check['failing']:,}" if check["failing"] else ""
        examined = f"{check['examined']:,} {check['unit']}s" if check["status"] != "skipped" else ""
        shown.add_row(check["name"], mark, failing, examined, plain(check["says"]))
    return shown
