"""`icr2 experiment`."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from builders.errors import SetupError

_CHANGES = "Other than the scale says"


def _change(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_CHANGES, **more)


def register(app: typer.Typer) -> None:
    """Mounts the command on `app`."""
    app.command()(experiment)


def experiment(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="table4, table5, table9, figure5 or figure6.")],
    dataset: Annotated[Path, typer.Option(metavar="DIR", help="A dataset; built by the scale where it is not there.")],
    scale: Annotated[str, typer.Option(help="tiny: for two cores. full: the paper's, for eight GPUs.")] = "tiny",
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Models, heads, runs and report.")] = Path("experiments"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands, and run none.")] = False,
    model: Annotated[str | None, _change("The model that all others are trained from.")] = None,
    config: Annotated[list[str] | None, _change("A config to answer; may be given again.")] = None,
    train_config: Annotated[list[str] | None, _change("A config to learn from; may be given again.")] = None,
    split: Annotated[str, _change("The split to learn from.")] = "train",
    samples: Annotated[int | None, _change("Samples of each task.", min=1)] = None,
    steps: Annotated[int | None, _change("Steps of each training.", min=1)] = None,
    limit: Annotated[int | None, _change("Test instances of each task.", min=1)] = None,
    probe_limit: Annotated[int | None, _change("Validation instances for the heads.", min=1)] = None,
    launch: Annotated[str | None, _change("Settings for accelerate, such as gpu_1; none: no launcher.")] = None,
    set: Annotated[
        list[str] | None, _change("KEY=VALUE for the build; may be given again.", metavar="KEY=VALUE")
    ] = None,
) -> None:
    """Builds, trains, answers and reports what tables and figures of the paper compare; goes on where it stopped."""
    from eval_harness.experiments.commands import Place
    from eval_harness.experiments.registry import EXPERIMENTS
    from eval_harness.experiments.run import CONFIGS, needed, report, run
    from eval_harness.experiments.scale import scale_of

    if unknown := sorted({*names} - {*EXPERIMENTS}):
        raise SetupError(f"no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    launchers = {path.stem for path in CONFIGS.glob("*.yaml")}
    if launch and launch not in {*launchers, "none"}:
        raise SetupError(f"no settings {launch} for accelerate; there are {', '.join(sorted(launchers))}, and none")
    changes = {
        "model": model,
        "configs": config,
        "learned": train_config,
        "samples": samples,
        "train": {"steps": steps} if steps else None,
        "answer": {"limit": limit} if limit else None,
        "probe": {"limit": probe_limit} if probe_limit else None,
    }
    found = scale_of(scale, {key: value for key, value in changes.items() if value is not None})
    build = found.build.model_copy(update={"set": [*found.build.set, *(set or [])]})
    launcher = {None: found.launch, "none": None}.get(launch, launch)
    place = Place(found.model_copy(update={"build": build, "launch": launcher}), dataset, split, out)
    chosen = [EXPERIMENTS[name] for name in dict.fromkeys(names)]
    todo = needed(place, chosen)
    if dry_run:
        for command in todo:
            typer.echo(f"icr2 {shlex.join(command.arguments)}")
        return
    run(place, todo)
    for path in report(place, chosen, scale):
        typer.echo(f"wrote {path}")
