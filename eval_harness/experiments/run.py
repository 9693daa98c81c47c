"""Runs the commands of experiments in order, and writes their report."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter

from builders.display import say
from builders.ending import ending_with_us
from builders.errors import SetupError
from builders.views import readable
from eval_harness.experiments.base import Experiment, Found, Parts
from eval_harness.experiments.commands import Command, Place, commands
from eval_harness.experiments.models import Tuned
from eval_harness.probing.heads_file import read_heads
from eval_harness.report.document import write_document
from eval_harness.report.instances import instances_of
from eval_harness.report.parts import Document
from eval_harness.report.study import Study, read_studies
from eval_harness.run.results import open_record

CONFIGS = Path(__file__).parents[1] / "train" / "configs"


def needed(place: Place, chosen: Sequence[Experiment]) -> list[Command]:
    """The unique commands of all experiments."""
    answering, probed = _models(place, chosen)
    trained = [model for experiment in chosen for model in experiment.trained(place.scale)]
    more = [command for experiment in chosen for command in experiment.more(place)]
    build, *found = commands(place, answering, probed, trained)
    built = [build] if any(experiment.own_data(place.scale) for experiment in chosen) else []
    unique = {tuple(command.arguments): command for command in [*built, *found, *more]}
    return list(unique.values())


def run(place: Place, todo: Iterable[Command], execute: Callable[[list[str]], int] | None = None) -> None:
    """Runs the commands whose output is missing, each in a process of its own unless `execute` replaces this.

    SetupError names the failed command, or the settings in which the folder's earlier experiments differ.
    """
    for command in todo:
        if place.dataset.is_dir():  # checked from the build on: the folder may only be resumed with the same settings
            open_record(place.out, place.record())
        if command.makes and command.makes.exists():
            continue
        written = [*launcher(place, command), *command.arguments]
        say(f"icr2 {' '.join(command.arguments)}")
        start = perf_counter()
        if code := (execute or _in_process)(written):
            raise SetupError(
                f"icr2 {' '.join(command.arguments[:2])} ended with exit code {code}; fix the error above and rerun "
                "the same command to resume"
            )
        say(f"{perf_counter() - start:.0f} s")


def _in_process(written: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", *written], check=False, **ending_with_us()).returncode


def launcher(place: Place, command: Command) -> list[str]:
    """The modules for `python -m` in front of a command's arguments."""
    if not (command.trains and place.scale.launch):
        return ["icr2_cli"]
    settings = CONFIGS / f"{place.scale.launch}.yaml"
    return ["accelerate.commands.launch", "--config_file", str(settings), "-m", "icr2_cli"]


def report(place: Place, chosen: Sequence[Experiment], scale: str) -> list[Path]:
    """Writes the report of all experiments and returns its files."""
    answering, probed = _models(place, chosen)
    studies = read_studies([place.run(model) for model in answering]) if answering else []
    heads = {model: read_heads(place.heads(model)) for model in probed}
    found = Found(place, studies, heads)
    parts = [experiment.report(found) for experiment in chosen]
    study = found.study if studies else None
    with readable(place.dataset):
        instances = instances_of(study, place.dataset) if study else {}
    return write_document(_document(place, parts, study, scale), study, instances, place.out / "report")


def _models(place: Place, chosen: Sequence[Experiment]) -> tuple[list[Tuned], list[Tuned]]:
    answering = [model for experiment in chosen for model in experiment.answering(place.scale)]
    probed = [model for experiment in chosen for model in experiment.probed(place.scale)]
    return list(dict.fromkeys(answering)), list(dict.fromkeys(probed))


def _document(place: Place, parts: Sequence[Parts], study: Study | None, scale: str) -> Document:
    digest = f"; dataset manifest sha256 {study.manifest_sha256}" if study else ""
    return Document(
        f"{study.title if study else place.dataset.name}: experiments",
        f"{place.scale.model}, scale {scale}{digest}",
        [section for part in parts for section in part.sections if section.rows],
        [drawn for part in parts for drawn in part.figures],
        {name: lines for part in parts for name, lines in part.tables.items()},
    )
