"""Steps shared by commands that prompt a model: complete a plan, load the model, run it, or preview its prompts."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from builders.display import say
from builders.errors import SetupError
from builders.files import write_json
from eval_harness.commands.options import Answering, Batches, Prompted, Server, Speed
from eval_harness.data.dataset import Dataset
from eval_harness.models import is_remote, load_with
from eval_harness.models.back_end import ModelOptions
from eval_harness.models.base import Model
from eval_harness.models.limits import UNKNOWN
from eval_harness.models.thoughts import marks_of
from eval_harness.run.plan import Plan, default_folder
from eval_harness.run.record import record
from eval_harness.run.requests import requests
from eval_harness.run.results import Results, only_run

if TYPE_CHECKING:
    from eval_harness.models.chat_api import Priced

_Plan = TypeVar("_Plan", bound=Plan)
Prices = tuple[float | None, float | None]  # per million input tokens, and per million output tokens

ENDPOINT_BATCH = 32  # prompts per call; --concurrency sets how many requests are in flight


def completed(plan: _Plan, asked: Answering, speed: Batches) -> _Plan:
    """The plan with the limits and batches of the options, and the canonical names of its methods."""
    remote = is_remote(asked.model)
    return replace(
        plan,
        methods=tuple(setting.name for setting in plan.settings),
        batch_size=batch_of(asked, speed),
        max_batch_tokens=speed.max_batch_tokens,
        shares_prefixes=speed.prefix_reuse and not remote,
        warm_up=speed.warm_up,
        limits=asked.limits(),
    )


def batch_of(asked: Prompted, speed: Speed) -> int:
    """Prompts per batch."""
    return speed.batch_size or (ENDPOINT_BATCH if is_remote(asked.model) else 1)


def counter_of(asked: Prompted, server: Server, dataset: Dataset) -> str:
    """What counts the prompt tokens: the model itself, or a tokenizer if the model is behind a server."""
    if not is_remote(asked.model):
        return asked.model
    if server.tokenizer:
        return server.tokenizer
    if dataset.manifest.tokenizer is None:
        raise SetupError(f"the manifest of {dataset.folder} does not name a tokenizer; give one with --tokenizer")
    return dataset.manifest.tokenizer.name


def ready(asked: Prompted, speed: Speed, server: Server, counter: str) -> Model:
    """The named model, loaded."""
    return load_with(
        asked.model,
        ModelOptions(
            speed.dtype,
            speed.attention,
            asked.system,
            counter,
            server.chat(),
            asked.fields(),
            marks_of(asked.thinking_marks),
            asked.max_positions,
        ),
    )


def answered(plan: Plan, model: Model, out: Path | None, **facts: Any) -> Results:
    """The finished run of a plan, with its summary written next to the results; `facts` are added to its record."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from builders.display import Terminal
    from eval_harness import report
    from eval_harness.run.run import run

    folder = out or default_folder(plan, model.name)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    fields = record(plan, model) | facts
    _say_limit(model)
    with only_run(folder):
        results = Results(folder, fields)
        with Progress(*columns, console=Terminal(stderr=True)) as progress:
            run(plan, model, results, progress)
        _check_answered(results, model)
        summary = report.summary(report.cells(results.rows)) | {"tokens": results.tokens()}
        write_json(results.folder / "summary.json", summary)
    return results


def _say_limit(model: Model) -> None:
    if source := getattr(model, "limit_source", None):
        limit = f"{model.max_positions:,}" if model.max_positions < UNKNOWN else "unknown"
        say(f"context length: {limit} tokens ({source}); longer prompts are overlength")


def _check_answered(results: Results, model: Model) -> None:
    """Raises SetupError if no prompt was answered: the model failed on each that it was given, or was given none."""
    asked = [row for row in results.rows if row.status not in ("n/a", "overlength")]
    failed = [row for row in asked if row.status == "error"]
    if failed and len(failed) == len(asked):
        raise SetupError(
            f"nothing was answered: all {len(failed)} prompts failed, the first with: {failed[0].error}; rerun the "
            "same command to ask again"
        )
    long = sum(row.status == "overlength" for row in results.rows)
    if long and not asked:
        raise SetupError(
            f"nothing was answered: all {long} prompts are longer than the {model.max_positions:,} tokens of "
            f"{model.name}; choose shorter configs with --config, or a model with a longer context"
        )


def show_plan(plan: Plan, tokenizer: str, prices: Prices = (None, None)) -> None:
    """Prints the number of prompts and tokens of a plan, and their cost."""
    from rich.table import Table

    from builders.display import Terminal
    from builders.tokens import token_counter

    shown = Table(
        "config", "method", "task", "prompts", "n/a", "longest", "tokens", title="prompt tokens, without template"
    )
    every = []
    for group in requests(plan, token_counter(tokenizer).count):
        every += group
        for task in sorted({request.instance.task for request in group}):
            mine = [request for request in group if request.instance.task == task]
            lengths = [request.n_prompt_tokens for request in mine if request.passages is not None]
            numbers = (len(lengths), len(mine) - len(lengths), max(lengths, default=0), sum(lengths))
            shown.add_row(group[0].config, group[0].method, task, *map(str, numbers))
    Terminal().print(shown)
    show_cost((request for request in every if request.passages is not None), prices)


def show_cost(requests: Iterable["Priced"], prices: Prices) -> None:
    """Prints the number of unique prompts, their tokens, and their cost at prices per million tokens."""
    from eval_harness.models.chat_api import estimate

    found = estimate(requests, *prices)
    cost = "" if found.cost is None else f", at most {found.cost:.2f} at these prices"
    tokens = f"{found.tokens_in} input tokens, at most {found.tokens_out} output tokens"
    say(f"{found.n_prompts} unique prompts: {tokens}{cost}")
