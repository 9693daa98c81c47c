"""`icr2 eval`, `icr2 models` and `icr2 show-prompt`."""

from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from rich.markup import escape

from builders.errors import SetupError
from builders.options import SEVERAL, DatasetFolder, grouped, option
from eval_harness.commands import options
from eval_harness.commands.asking import answered, completed, counter_of, ready, show_plan
from eval_harness.commands.show_prompt import show_prompt
from eval_harness.conditions.ranking import ENCODER
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.methods.probed import Probed
from eval_harness.methods.registry import described
from eval_harness.models.local import BUNDLED_MODELS, find_checkpoint
from eval_harness.probing.heads import read_heads
from eval_harness.run.plan import Plan
from eval_harness.run.results import Results

_RAP = "Retrieval attention probing (rap@QxM)"


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    app.command("eval", epilog="\n\n".join(map(escape, ["Methods:", *described()])))(evaluate)
    app.command("models")(models)
    app.command("show-prompt")(show_prompt)


def _rap(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_RAP, **more)


@dataclass(frozen=True)
class Heads:
    """The retrieval heads that `rap` uses."""

    heads: Annotated[Path | None, _rap("Retrieval heads, as `icr2 probe` writes them.", metavar="FILE")] = None
    preset: Annotated[str | None, _rap("Q and M of `rap` without @QxM, such as da-icr2 for the paper's.")] = None
    max_layer: Annotated[int | None, _rap("Only use heads up to this layer, and stop probing there.", min=0)] = None

    def probed(self) -> Probed | None:
        """The heads and the choice of them; None without a heads file."""
        return Probed(read_heads(self.heads), self.preset, self.max_layer) if self.heads else None


@grouped
def evaluate(
    *,
    folder: DatasetFolder,
    config: options.Configs,
    asked: options.Prompted,
    method: Annotated[list[str], option("method", f"{SEVERAL} See below.")],
    rows: options.Part,
    encoder: options.Encoder = ENCODER,
    run: options.Run,
    rap: Heads,
    speed: options.Batches,
    server: options.Server,
) -> None:
    """Run a model on a dataset and score it. Resumable: rerun to resume."""
    dataset = open_dataset(folder)
    check_parts(dataset, config, rows.split)
    plan = Plan(
        dataset,
        options.once(config),
        tuple(method),
        rows.split,
        rows.tasks,
        rows.limit,
        shard=rows.part,
        encoder=encoder,
        probed=rap.probed(),
    )
    plan = completed(plan, asked, speed)
    plan.planned()  # refuses an unknown task before a model is loaded
    counter = counter_of(asked, server, dataset)
    if run.dry_run:
        show_plan(plan, counter, server.prices)
        return
    loaded = ready(asked, speed, server, counter)
    _print(plan, loaded.name, answered(plan, loaded, run.out))


def models(
    name: Annotated[str | None, typer.Argument(help="Only print the folder of this model.")] = None,
) -> None:
    """List the bundled models and their folders, for use in other tools. They are unpacked on first use."""
    if name is not None and name not in BUNDLED_MODELS:
        raise SetupError(f"no bundled model {name!r}; available: {', '.join(BUNDLED_MODELS)}")
    if name is not None:
        typer.echo(find_checkpoint(name).folder)
        return
    for known in BUNDLED_MODELS:
        try:
            typer.echo(f"{known}\t{find_checkpoint(known).folder}")
        except SetupError as error:
            typer.echo(f"{known}\t{error}")


def _print(plan: Plan, model: str, results: Results) -> None:
    from rich.console import Console

    from eval_harness import report

    title = f"{plan.dataset.name} {plan.dataset.version}, {model}"
    Console(width=max(120, get_terminal_size().columns)).print(report.table(report.cells(results.rows), title))
    typer.echo(f"results: {results.folder}")
