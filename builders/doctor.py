"""Checks the installation, and prints the command for what is missing."""

import os
import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import NamedTuple

from rich.text import Text

from builders.bundled import BUNDLED, REQUIREMENTS, bundled_file, bundled_version
from builders.display import Terminal, plain
from builders.errors import SetupError
from builders.extras import EXTRAS, install, lacking

CORE = ("pyarrow", "datasets", "duckdb", "great_expectations")


class Finding(NamedTuple):
    """One line of the report; `fix` is the command to run where something is missing."""

    what: str
    found: str
    fix: str = ""


def print_report(console: Terminal) -> None:
    """Prints one line per requirement, and for a missing one the command that installs it."""
    for finding in findings():
        mark = Text("missing", "red") if finding.fix else Text("ok     ", "green")
        console.print(mark + Text(plain(f" {finding.what}: {finding.found}")))
        if finding.fix:
            console.print(f"        run: {finding.fix}")


def findings() -> list[Finding]:
    """All findings of the report."""
    looks: list[Callable[[], list[Finding]]] = [_python, _packages, _extras, _java, _torch, _bundled]
    return [finding for look in looks for finding in look()]


def _python() -> list[Finding]:
    return [Finding("Python", f"{platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores")]


def _packages() -> list[Finding]:
    return [Finding(package, version(package)) for package in CORE]


def _extras() -> list[Finding]:
    found = []
    for extra, packages in EXTRAS.items():
        if missing := lacking(extra):
            found.append(Finding(f"extra {extra}", f"not installed: {', '.join(missing)}", install(extra)))
        else:
            versions = (f"{package} {version(package)}" for package in sorted(set(packages.values())))
            found.append(Finding(f"extra {extra}", ", ".join(versions)))
    return found


def _java() -> list[Finding]:
    from builders.retrieve.jvm import java_home

    try:
        return [Finding("Java 21+ for bm25", str(java_home()))]
    except SetupError as error:
        return [Finding("Java 21+ for bm25", str(error), install("build"))]


def _torch() -> list[Finding]:
    try:
        import torch
    except ImportError:
        return []
    from builders.device import fast_bfloat16

    cuda = torch.cuda.is_available()
    name = torch.cuda.get_device_name() if cuda else "CPU"
    bf16 = "bfloat16 is fast" if fast_bfloat16() else "float32 (bfloat16 is not fast here)"
    return [Finding("device", f"{name}, {bf16}, {torch.get_num_threads()} threads")]


def _bundled() -> list[Finding]:
    found = []
    for name, item in BUNDLED.items():
        try:
            bundled_file(name)
            found.append(Finding(f"{name} ({item.what})", bundled_version(name)))
        except SetupError:
            found.append(Finding(f"{name} ({item.what})", "not installed", f"pip install --no-deps -r {REQUIREMENTS}"))
    return found
