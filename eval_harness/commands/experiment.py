"""`icr2 experiment`."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.display import say
from builders.errors import SetupError
from builders.options import SEVERAL, grouped, option

if TYPE_CHECKING:
    from eval_harness.experiments.scale import Scale

_CHANGES = "Override scale defaults"


def _change(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_CHANGES, **more)


@dataclass(frozen=True)
class Changes:
    """Options that override the scale."""

    model: Annotated[str | None, option("model", "Base model of all trainings.", panel=_CHANGES)] = None
    config: Annotated[list[str] | None, option("config", f"For evaluation. {SEVERAL}", panel=_CHANGES)] = None
    train_config: Annotated[list[str] | None, _change(f"Config for training. {SEVERAL}")] = None
    split: Annotated[str, option("split", "Used for training.", panel=_CHANGES)] = "train"
    samples: Annotated[str | None, option("samples", panel=_CHANGES, metavar="TASK=N,...")] = None
    steps: Annotated[int | None, option("steps", "Applies to each training.", panel=_CHANGES, min=1)] = None
    limit: Annotated[int | None, option("limit", "Used for evaluation.", panel=_CHANGES, min=1)] = None
    probe_limit: Annotated[
        int | None, _change("Only the first N validation instances of each task, for probing.", min=1)
    ] = None
    launch: Annotated[
        str | None, _change("Configuration of `accelerate launch`, such as gpu_1; none: run without it.")
    ] = None
    set: Annotated[list[str] | None, option("set", panel=_CHANGES, metavar="KEY=VALUE")] = None

    def scale(self, name: str) -> "Scale":
        """The named scale with the changes."""
        from eval_harness.experiments.scale import scale_of

        changes = {
            "model": self.model,
            "configs": self.config,
            "learned": self.train_config,
            "samples": samples_of(self.samples) if self.samples else None,
            "train": {"steps": self.steps} if self.steps else None,
            "answer": {"limit": self.limit} if self.limit else None,
            "probe": {"limit": self.probe_limit} if self.probe_limit else None,
        }
        found = scale_of(name, {key: value for key, value in changes.items() if value is not None})
        build = found.build.model_copy(update={"set": [*found.build.set, *(self.set or [])]})
        launcher = {None: found.launch, "none": None}.get(self.launch, self.launch)
        return found.model_copy(update={"build": build, "launch": launcher})


def samples_of(written: str) -> dict[str, int] | int:
    """Samples by task, or one number for every task."""
    from eval_harness.train.settings import wanted

    found = wanted(written)
    return found.get("", found)


def register(app: typer.Typer) -> None:
    """Mounts the command on `app`."""
    app.command()(experiment)


@grouped
def experiment(
    *,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Such as table4 or figure1; an unknown name lists all."),
    ],
    dataset: Annotated[Path, option("dataset", "If missing, it is built as the scale defines.", metavar="DIR")],
    scale: Annotated[str, typer.Option(help="tiny: for two CPU cores; full: the paper's, for eight GPUs.")] = "tiny",
    out: Annotated[Path, option("out", "Holds models, heads, runs and report.", metavar="FOLDER")] = Path(
        "experiments"
    ),
    dry_run: Annotated[bool, option("dry_run", "The commands are printed.", "--dry-run")] = False,
    changes: Changes,
) -> None:
    """Build, train, evaluate and report the paper's comparisons. Resumable: rerun to resume."""
    from eval_harness.experiments.commands import Place
    from eval_harness.experiments.registry import EXPERIMENTS
    from eval_harness.experiments.run import CONFIGS, needed, report, run

    if unknown := sorted({*names} - {*EXPERIMENTS}):
        raise SetupError(f"no experiment {', '.join(unknown)}; available: {', '.join(EXPERIMENTS)}")
    launchers = {path.stem for path in CONFIGS.glob("*.yaml")}
    if changes.launch and changes.launch not in {*launchers, "none"}:
        known = ", ".join([*sorted(launchers), "none"])
        raise SetupError(f"no accelerate configuration {changes.launch}; available: {known}")
    place = Place(changes.scale(scale), dataset, changes.split, out)
    chosen = [EXPERIMENTS[name] for name in dict.fromkeys(names)]
    todo = needed(place, chosen)
    if dry_run:
        for command in todo:
            say(f"icr2 {shlex.join(command.arguments)}")
        return
    run(place, todo)
    for path in report(place, chosen, scale):
        say(f"wrote {path}")
