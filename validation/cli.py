"""The command `icr2 validate`."""

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds `validate` to an app."""
    app.command()(validate)


def validate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Dataset folder.")],
    config: Annotated[
        list[str] | None, typer.Option(help="Config, such as 1k_p75. Repeat for several. Default: all.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="CHECK", help="Run only this check; repeatable.")] = None,
    skip: Annotated[list[str] | None, typer.Option(metavar="CHECK", help="Skip this check; repeatable.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Also write an HTML report to FOLDER.")] = None,
    fail_on: Annotated[str, typer.Option(help="error, or warning: also exit with 1 for new warnings.")] = "error",
    memory: Annotated[
        str | None, typer.Option(help="Memory of the database, which keeps the rest on disk. Default: 450MB.")
    ] = None,
    list_checks: Annotated[bool, typer.Option("--list", help="List all checks and stop.")] = False,
) -> None:
    """Check a dataset for leaks and defects, from its Parquet only. Exit code 1 if an error is found."""
    from rich.text import Text

    from builders.display import Terminal, plain, say
    from builders.errors import SetupError
    from validation.checks import CHECKS
    from validation.dataset import read_dataset
    from validation.measures import MEMORY
    from validation.report import failures, report, table, write_html, write_report
    from validation.suite import chosen_checks, run_suite

    console = Terminal(width=max(120, shutil.get_terminal_size().columns))
    if list_checks:
        for name, check in CHECKS.items():
            say(f"{name} ({check.severity}): {check.says}")
        return
    if fail_on not in ("error", "warning"):
        raise SetupError(f"invalid --fail-on {fail_on!r}; use error or warning")
    if memory and not re.fullmatch(r"[1-9][0-9]{0,5}(MB|GB)", memory):
        raise SetupError(f"invalid --memory {memory!r}; write a number of MB or GB, such as 4GB")
    names = chosen_checks(only or [], skip or [])
    dataset = read_dataset(folder, config or [])
    with Terminal(stderr=True).status("checking") as status:
        outcomes = run_suite(
            dataset, names, lambda step: status.update(Text(plain(f"checking {folder}: {step}"))), memory or MEMORY
        )
    content = report(dataset, outcomes)
    write_report(content, folder / "validation.json")
    console.print(table(content))
    for check in content["checks"]:
        if check["status"] == "failed":
            console.print(_examples(check))
    if html:
        console.print(f"wrote {write_html(content, html)}")
    failed = failures(content, fail_on)
    partly = "" if content["complete"] else "; not all checks ran on all configs, so the dataset cannot be published"
    verdict = f"failed: {', '.join(failed)}" if failed else "passed"
    console.print(f"{verdict}{partly}; {folder / 'validation.json'} has every count")
    if failed:
        raise typer.Exit(1)


def _examples(check: dict) -> str:
    """The findings of a check in up to three instances, on one line."""
    found = {item["id"]: item for item in reversed(check["ids"])}  # the first of each
    told = []
    for item in list(found.values())[::-1][:3]:
        where = " ".join(str(item[name]) for name in ("config", "split", "id", "pid") if item[name])
        told.append(f"{where} {item['detail']}")
    return f"{check['name']}: {'; '.join(told)}"
