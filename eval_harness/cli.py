"""`icr2 eval` and `icr2 models`."""

from collections.abc import Iterable
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated

import typer

from builders.device import DType
from builders.errors import SetupError
from eval_harness.load import check_parts, open_dataset
from eval_harness.methods import METHODS, check_methods
from eval_harness.models import BUNDLED_MODELS, find_checkpoint, load_model
from eval_harness.run import MAX_NEW_TOKENS, Plan


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    app.command("eval")(evaluate)
    app.command("models")(models)


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset.")],
    config: Annotated[list[str], typer.Option(help="A config such as 1k_p75; may be given again.")],
    model: Annotated[str, typer.Option(help="A bundled name, a folder, a GGUF file, or a Hub id (id@revision).")],
    method: Annotated[list[str], typer.Option(help=f"One of {', '.join(METHODS)}; may be given again.")],
    task: Annotated[list[str] | None, typer.Option(help="A task; may be given again. Default: all.")] = None,
    split: Annotated[str, typer.Option(help="The split to run.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N instances of each task.")] = None,
    max_new_tokens: Annotated[int | None, typer.Option(min=1, help="For every task; default: by task.")] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Prompts at a time.")] = 1,
    dtype: Annotated[DType, typer.Option(help="auto: bfloat16 where it is fast, else float32.")] = "auto",
    out: Annotated[Path | None, typer.Option(metavar="RUN", help="The run's folder; default: under runs/.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Show what would be asked; load no model.")] = False,
) -> None:
    """Runs a model on a dataset and scores it; started again, it goes on where it stopped."""
    check_methods(method)
    dataset = open_dataset(folder)
    check_parts(dataset, config, split)
    plan = Plan(
        dataset,
        _once(config),
        _once(method),
        split,
        _once(task or ()),
        limit,
        MAX_NEW_TOKENS if max_new_tokens is None else dict.fromkeys(MAX_NEW_TOKENS, max_new_tokens),
        batch_size,
    )
    if dry_run:
        _show_plan(plan, model)
    else:
        _run(plan, model, dtype, out)


def models(
    name: Annotated[str | None, typer.Argument(help="Print the folder of this one alone.")] = None,
) -> None:
    """Lists the bundled models with the folders that other tools can be given; made on first use."""
    if name is not None and name not in BUNDLED_MODELS:
        raise SetupError(f"no bundled model {name!r}; there are {', '.join(BUNDLED_MODELS)}")
    if name is not None:
        typer.echo(find_checkpoint(name).folder)
        return
    for known in BUNDLED_MODELS:
        try:
            typer.echo(f"{known}\t{find_checkpoint(known).folder}")
        except SetupError as error:
            typer.echo(f"{known}\t{error}")


def _run(plan: Plan, spec: str, dtype: DType, out: Path | None) -> None:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from eval_harness import report
    from eval_harness.results import Results, write_json
    from eval_harness.run import default_folder, record, run

    model = load_model(spec, dtype)
    results = Results(out or default_folder(plan, model.name), record(plan, model))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        run(plan, model, results, progress)
    found = report.cells(results.rows)
    write_json(results.folder / "summary.json", report.summary(found))
    Console(width=max(120, get_terminal_size().columns)).print(
        report.table(found, f"{plan.dataset.name} {plan.dataset.version}, {model.name}")
    )
    typer.echo(f"results: {results.folder}")


def _show_plan(plan: Plan, spec: str) -> None:
    from rich.console import Console
    from rich.table import Table

    from builders.tokens import token_counter
    from eval_harness.run import requests

    shown = Table(
        "config", "method", "task", "prompts", "n/a", "longest", "tokens", title="prompt tokens, template aside"
    )
    for group in requests(plan, token_counter(spec).count):
        for task in sorted({request.instance.task for request in group}):
            mine = [request for request in group if request.instance.task == task]
            lengths = [request.n_prompt_tokens for request in mine if request.prompt is not None]
            numbers = (len(lengths), len(mine) - len(lengths), max(lengths, default=0), sum(lengths))
            shown.add_row(group[0].config, group[0].method, task, *map(str, numbers))
    Console().print(shown)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repeats, in the order given."""
    return tuple(dict.fromkeys(names))
