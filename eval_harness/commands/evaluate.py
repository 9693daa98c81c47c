"""`icr2 eval`, `icr2 models` and `icr2 show-prompt`."""

from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from rich.markup import escape

from builders.display import say
from builders.options import SEVERAL, DatasetFolder, grouped, option
from eval_harness.commands import options
from eval_harness.commands.asking import answered, completed, counter_of, ready, show_plan
from eval_harness.commands.models import register as register_models
from eval_harness.commands.show_prompt import show_prompt
from eval_harness.commands.unused import refuse_unused
from eval_harness.conditions.ranking import ENCODER
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.methods.probed import Probed
from eval_harness.methods.registry import described
from eval_harness.models.base import Model
from eval_harness.probing.heads import check_preset
from eval_harness.probing.heads_file import read_heads
from eval_harness.run.plan import Plan
from eval_harness.run.results import Results

_RAP = "Retrieval attention probing (rap@QxM)"


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    app.command("eval", epilog="\n\n".join(map(escape, ["Methods:", *described()])))(evaluate)
    register_models(app)
    app.command("show-prompt")(show_prompt)


def _rap(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_RAP, **more)


@dataclass(frozen=True)
class Heads:
    """The retrieval heads that `rap` uses."""

    heads: Annotated[Path | None, _rap("Retrieval heads, as `icr2 probe` writes them.", metavar="FILE")] = None
    preset: Annotated[str | None, _rap("Q and M of `rap` without @QxM, such as da-icr2 for the paper's.")] = None
    pooled: Annotated[bool, _rap("Heads of all tasks together choose, not those of each task.")] = False
    max_layer: Annotated[int | None, _rap("Only use heads up to this layer, and stop probing there.", min=0)] = None

    def probed(self) -> Probed | None:
        """The heads and the choice of them; None without a heads file."""
        if not self.heads:
            return None
        return Probed(read_heads(self.heads), self.preset, self.max_layer, self.pooled)


@grouped
def evaluate(
    *,
    folder: DatasetFolder,
    config: options.Configs,
    asked: options.Answering,
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
    if rap.preset:
        check_preset(rap.preset, {name: dataset.manifest.config(name).family for name in config})
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
    refuse_unused(asked, speed, server, dry_run=run.dry_run)
    plan.planned()  # refuses an unknown task before a model is loaded
    if plan.probed:
        plan.probed.check(rows.tasks or dataset.manifest.tasks)
    counter = counter_of(asked, server, dataset)
    if run.dry_run:
        show_plan(plan, counter, server.prices)
        return
    loaded = ready(asked, speed, server, counter)
    _print(plan, loaded, answered(plan, loaded, run.out))


def _print(plan: Plan, model: Model, results: Results) -> None:
    from builders.display import Terminal
    from eval_harness import report

    table = report.table(report.cells(results.rows), f"{plan.dataset.name} {plan.dataset.version}, {model.name}")
    Terminal(width=max(120, get_terminal_size().columns)).print(table)
    say(f"results: {results.folder}")
