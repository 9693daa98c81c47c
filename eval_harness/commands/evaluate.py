"""`icr2 eval`, `icr2 models` and `icr2 show-prompt`."""

import re
from collections.abc import Iterable
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from builders.errors import SetupError
from eval_harness.commands import options
from eval_harness.commands.asking import answered, completed, counter_of, ready, show_plan
from eval_harness.commands.show_prompt import show_prompt
from eval_harness.conditions.ranking import ENCODER
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.methods.names import NAMES
from eval_harness.methods.rap import Probed
from eval_harness.models.local import BUNDLED_MODELS, find_checkpoint
from eval_harness.probing.heads import read_heads
from eval_harness.run.plan import Plan
from eval_harness.run.results import Results

_RAP = "Retrieval attention probing (rap@QxM)"


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    app.command("eval")(evaluate)
    app.command("models")(models)
    app.command("show-prompt")(show_prompt)


def _rap(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_RAP, **more)


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset.")],
    config: Annotated[list[str], typer.Option(help="A config such as 1k_p75; may be given again.")],
    model: options.ModelName,
    method: Annotated[
        list[str],
        typer.Option(
            help=f"One of {', '.join(NAMES)}, retrieved ones also as NAME@K, each also as NAME+cite; rap@QxM; for a "
            "tuned model sft_da, sft_rta or sft_cci, also as NAME+rap, NAME+rap@QxM or NAME+block_context, and "
            "rethead@K, also as rethead@K+reprompt."
        ),
    ],
    task: options.Tasks = None,
    split: options.Split = "test",
    limit: options.Limit = None,
    shard: Annotated[str, typer.Option(metavar="I/N", help="Only part I of N.")] = "1/1",
    system: options.System = None,
    encoder: options.EncoderName = ENCODER,
    max_new_tokens: options.MaxNewTokens = None,
    out: options.Out = None,
    dry_run: options.DryRun = False,
    heads: Annotated[Path | None, _rap("Heads that retrieve, as `icr2 probe` found them.", metavar="FILE")] = None,
    preset: Annotated[str | None, _rap("What `rap` alone stands for, such as da-icr2: the paper's Q and M.")] = None,
    max_layer: Annotated[int | None, _rap("Use heads up to this layer alone, and read no further.", min=0)] = None,
    batch_size: options.BatchSize = None,
    max_batch_tokens: options.MaxBatchTokens = None,
    dtype: options.NumberType = "auto",
    attention: options.Attention = "sdpa",
    prefix_reuse: options.PrefixReuse = True,
    base_url: options.BaseUrl = None,
    tokenizer: options.TokenizerName = None,
    max_positions: options.MaxPositions = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = 600,
    limit_field: options.LimitField = "max_tokens",
    request_field: options.RequestFields = None,
    price_in: options.PriceIn = None,
    price_out: options.PriceOut = None,
) -> None:
    """Runs a model on a dataset and scores it; started again, it goes on where it stopped."""
    dataset = open_dataset(folder)
    plan = completed(
        Plan(
            dataset,
            _once(config),
            tuple(method),
            split,
            _once(task or ()),
            limit,
            shard=_shard(shard),
            encoder=encoder,
            probed=Probed(read_heads(heads), preset, max_layer) if heads else None,
        ),
        model,
        max_new_tokens,
        batch_size,
        max_batch_tokens,
        prefix_reuse,
    )
    check_parts(dataset, config, split)
    counter = counter_of(plan, model, tokenizer)
    if dry_run:
        show_plan(plan, counter, (price_in, price_out))
        return
    loaded = ready(
        model,
        counter,
        dtype,
        attention,
        system,
        base_url=base_url,
        max_positions=max_positions,
        concurrency=concurrency,
        timeout_s=timeout,
        limit_field=limit_field,
        request_field=request_field,
    )
    _print(plan, loaded.name, answered(plan, loaded, out))


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


def _print(plan: Plan, model: str, results: Results) -> None:
    from rich.console import Console

    from eval_harness import report

    title = f"{plan.dataset.name} {plan.dataset.version}, {model}"
    Console(width=max(120, get_terminal_size().columns)).print(report.table(report.cells(results.rows), title))
    typer.echo(f"results: {results.folder}")


def _shard(written: str) -> tuple[int, int]:
    """Part and number of parts from `I/N`."""
    found = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", written)
    if found is None or int(found[1]) > int(found[2]):
        raise SetupError(f"--shard {written} is no part of a whole; write 1/4 for the first of four")
    return int(found[1]), int(found[2])


def _once(names: Iterable[str]) -> tuple[str, ...]:
    """The names without repeats, in the order given."""
    return tuple(dict.fromkeys(names))
