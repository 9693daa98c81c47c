"""`icr2 eval`, `icr2 models` and `icr2 show-prompt`."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, Literal

import typer

from builders.device import DType
from builders.errors import SetupError
from eval_harness.load import check_parts, open_dataset, tokenizer_name
from eval_harness.methods import NAMES
from eval_harness.methods.rap import Probed
from eval_harness.models import BUNDLED_MODELS, ENDPOINT, find_checkpoint, load_endpoint, load_model
from eval_harness.models.base import Model
from eval_harness.probing.heads import read_heads
from eval_harness.retrieval import ENCODER
from eval_harness.run import MAX_NEW_TOKENS, Plan
from eval_harness.show_prompt import show_prompt

ENDPOINT_BATCH = 32  # prompts handed over at a time; how many are under way is --concurrency

_SERVER = "Models behind a chat endpoint (openai:MODEL)"
_SPEED = "Speed"
_RAP = "Retrieval attention probing (rap@QxM)"


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    app.command("eval")(evaluate)
    app.command("models")(models)
    app.command("show-prompt")(show_prompt)


def _server(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SERVER, **more)


def _rap(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_RAP, **more)


def _speed(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SPEED, **more)


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset.")],
    config: Annotated[list[str], typer.Option(help="A config such as 1k_p75; may be given again.")],
    model: Annotated[
        str, typer.Option(help="A bundled name, a folder, a GGUF file, a Hub id (id@revision), or openai:MODEL.")
    ],
    method: Annotated[
        list[str],
        typer.Option(
            help=f"One of {', '.join(NAMES)}, retrieved ones also as NAME@K, each also as NAME+cite, or rap@QxM."
        ),
    ],
    task: Annotated[list[str] | None, typer.Option(help="A task; may be given again. Default: all.")] = None,
    split: Annotated[str, typer.Option(help="The split to run.")] = "test",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N instances of each task.")] = None,
    shard: Annotated[str, typer.Option(metavar="I/N", help="Only part I of N.")] = "1/1",
    system: Annotated[str | None, typer.Option(help="A system turn before each prompt.")] = None,
    encoder: Annotated[str, typer.Option(help="The encoder of retrieved_dense and retrieved_hybrid.")] = ENCODER,
    max_new_tokens: Annotated[int | None, typer.Option(min=1, help="For every task; default: by task.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="RUN", help="The run's folder; default: under runs/.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Show what would be asked; load no model.")] = False,
    heads: Annotated[Path | None, _rap("Heads that retrieve, as `icr2 probe` found them.", metavar="FILE")] = None,
    preset: Annotated[str | None, _rap("What `rap` alone stands for, such as da-icr2: the paper's Q and M.")] = None,
    max_layer: Annotated[int | None, _rap("Use heads up to this layer alone, and read no further.", min=0)] = None,
    batch_size: Annotated[int | None, _speed("Prompts at a time; default: 1.", min=1)] = None,
    max_batch_tokens: Annotated[
        int | None, _speed("Padded tokens of prompts and outputs at a time, instead of a number of prompts.", min=1)
    ] = None,
    dtype: Annotated[DType, _speed("auto: bfloat16 where it is fast, else float32.")] = "auto",
    attention: Annotated[Literal["sdpa", "flash"], _speed("flash: FlashAttention, on a CUDA GPU.")] = "sdpa",
    prefix_reuse: Annotated[bool, _speed("Read what prompts over the same passages share once.")] = True,
    base_url: Annotated[str | None, _server("Its address; default: OPENAI_BASE_URL.")] = None,
    tokenizer: Annotated[str | None, _server("What counts its prompts; default: the dataset's.")] = None,
    max_positions: Annotated[int | None, _server("Its limit on prompt and output, in tokens.", min=1)] = None,
    concurrency: Annotated[int, _server("Prompts under way at a time.", min=1)] = 4,
    timeout: Annotated[float, _server("Seconds for one try.", min=1)] = 600,
    limit_field: Annotated[
        Literal["max_tokens", "max_completion_tokens"], _server("Its name for the output limit.")
    ] = "max_tokens",
    request_field: Annotated[list[str] | None, _server("KEY=VALUE for each request; may be given again.")] = None,
    price_in: Annotated[float | None, _server("With --dry-run: price of a million tokens read.", min=0)] = None,
    price_out: Annotated[float | None, _server("With --dry-run: price of a million tokens written.", min=0)] = None,
) -> None:
    """Runs a model on a dataset and scores it; started again, it goes on where it stopped."""
    dataset = open_dataset(folder)
    remote = model.startswith(ENDPOINT)
    plan = Plan(
        dataset,
        _once(config),
        tuple(method),
        split,
        _once(task or ()),
        limit,
        MAX_NEW_TOKENS if max_new_tokens is None else dict.fromkeys(MAX_NEW_TOKENS, max_new_tokens),
        batch_size or (ENDPOINT_BATCH if remote else 1),
        max_batch_tokens=max_batch_tokens,
        shard=_shard(shard),
        encoder=encoder,
        shares_prefixes=prefix_reuse and not remote,
        probed=Probed(read_heads(heads), preset, max_layer) if heads else None,
    )
    if max_new_tokens is not None:
        plan = replace(plan, evidence_tokens=0)  # the limit is the one asked for
    plan = replace(plan, methods=tuple(setting.name for setting in plan.settings))
    check_parts(dataset, config, split)
    counter = (tokenizer or tokenizer_name(dataset)) if remote else model
    if dry_run:
        _show_plan(plan, counter, (price_in, price_out))
    elif remote:
        from eval_harness.models.chat_api import ChatOptions, request_fields

        options = ChatOptions(
            base_url=base_url,
            system=system,
            max_positions=max_positions,
            concurrency=concurrency,
            timeout_s=timeout,
            limit_field=limit_field,
            fields=request_fields(request_field or ()),
        )
        _run(plan, load_endpoint(model, counter, options), out)
    else:
        _run(plan, load_model(model, dtype, attention=attention, system=system), out)


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


def _run(plan: Plan, model: Model, out: Path | None) -> None:
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
    write_json(results.folder / "summary.json", report.summary(found) | {"tokens": results.tokens()})
    Console(width=max(120, get_terminal_size().columns)).print(
        report.table(found, f"{plan.dataset.name} {plan.dataset.version}, {model.name}")
    )
    typer.echo(f"results: {results.folder}")


def _show_plan(plan: Plan, tokenizer: str, prices: tuple[float | None, float | None]) -> None:
    from rich.console import Console
    from rich.table import Table

    from builders.tokens import token_counter
    from eval_harness.models.chat_api import estimate
    from eval_harness.run import requests

    shown = Table(
        "config", "method", "task", "prompts", "n/a", "longest", "tokens", title="prompt tokens, template aside"
    )
    every = []
    for group in requests(plan, token_counter(tokenizer).count):
        every += group
        for task in sorted({request.instance.task for request in group}):
            mine = [request for request in group if request.instance.task == task]
            lengths = [request.n_prompt_tokens for request in mine if request.passages is not None]
            numbers = (len(lengths), len(mine) - len(lengths), max(lengths, default=0), sum(lengths))
            shown.add_row(group[0].config, group[0].method, task, *map(str, numbers))
    Console().print(shown)
    asked = {request.answer_key: request for request in every if request.passages is not None}
    found = estimate(asked.values(), *prices)
    cost = "" if found.cost is None else f", at most {found.cost:.2f} at these prices"
    tokens = f"{found.tokens_in} tokens to read, at most {found.tokens_out} to write"
    typer.echo(f"{found.n_prompts} different prompts: {tokens}{cost}")


def _shard(written: str) -> tuple[int, int]:
    """Part and number of parts from `I/N`."""
    found = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", written)
    if found is None or int(found[1]) > int(found[2]):
        raise SetupError(f"--shard {written} is no part of a whole; write 1/4 for the first of four")
    return int(found[1]), int(found[2])


def _once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repeats, in the order given."""
    return tuple(dict.fromkeys(names))
