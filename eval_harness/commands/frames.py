"""`icr2 frames run`, `judge`, `sheet` and `agree`."""

import re
from collections.abc import Collection
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.errors import SetupError
from eval_harness.commands import options
from eval_harness.commands.asking import ENDPOINT_BATCH, answered, completed, counter_of, ready, show_plan
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.models import is_remote
from eval_harness.protocols.frames.plan import DEFAULT, INDEX, FramesPlan, IndexKind
from eval_harness.protocols.frames.steps import MultiStep

if TYPE_CHECKING:
    from eval_harness.run.results import Row

_SEARCH = "Search"
VERDICT_TOKENS = 16
COUNTER = "smollm2"  # of a judge behind an endpoint, where none is named

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that `icr2 frames run` left.")]


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app` as a group of their own."""
    group = typer.Typer(help="Questions over several articles, with and without search (FRAMES).", no_args_is_help=True)
    for command in (run, judge, sheet, agree):
        group.command()(command)
    app.add_typer(group, name="frames")


def _search(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SEARCH, **more)


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built dataset, such as one of the recipe frames.")],
    config: Annotated[str, typer.Option(help="A config such as frames_32k.")],
    model: options.ModelName,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="naive, bm25@K, oracle or multistep@ROUNDSxQUERIESxARTICLES, this also with +plan; may be given "
            f"again. Default: {', '.join(DEFAULT)}."
        ),
    ] = None,
    articles: Annotated[
        str | None,
        _search("A knowledge source to search, such as kilt=pages.json. Default: the articles of the config."),
    ] = None,
    index: Annotated[IndexKind, _search("BM25 by Lucene, or without Java.")] = INDEX,
    query_tokens: Annotated[int | None, _search("For the queries of a round; default: by prompt.", min=8)] = None,
    each_round: Annotated[bool, _search("Ask for an answer after every round, or after the last alone.")] = True,
    task: options.Tasks = None,
    split: options.Split = "test",
    limit: options.Limit = None,
    system: options.System = None,
    max_new_tokens: options.MaxNewTokens = None,
    out: options.Out = None,
    dry_run: options.DryRun = False,
    batch_size: options.BatchSize = None,
    max_batch_tokens: options.MaxBatchTokens = None,
    dtype: options.NumberType = "auto",
    attention: options.Attention = "sdpa",
    base_url: options.BaseUrl = None,
    tokenizer: options.TokenizerName = None,
    max_positions: options.MaxPositions = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = 600,
    limit_field: options.LimitField = "max_tokens",
    request_field: options.RequestFields = None,
) -> None:
    """Answer a config's questions under each condition; started again, it goes on where it stopped."""
    from eval_harness.protocols.frames.questions import keep_questions

    dataset = open_dataset(folder)
    check_parts(dataset, [config], split)
    plan = FramesPlan(
        dataset,
        (config,),
        tuple(dict.fromkeys(condition or DEFAULT)),
        split,
        tuple(dict.fromkeys(task or ())),
        limit,
        source=articles,
        index=index,
        query_tokens=query_tokens,
        each_round=each_round,
    )
    plan = completed(plan, model, max_new_tokens, batch_size, max_batch_tokens, prefix_reuse=True)
    counter = counter_of(plan, model, tokenizer)
    if dry_run:
        _show(plan, model, counter, max_positions)
        return
    server = {"base_url": base_url, "max_positions": max_positions, "concurrency": concurrency, "timeout_s": timeout}
    asked = {"limit_field": limit_field, "request_field": request_field}
    loaded = ready(model, counter, dtype, attention, system, **server, **asked)
    plan = plan.fitting(loaded.count, loaded.max_positions)
    finished = answered(plan, loaded, out, **plan.facts()).folder
    keep_questions(dataset, config, split, finished)
    _report(finished, folder, ("frames", "types", "articles", "rounds", "gap"))


def judge(
    run: RunFolder,
    model: options.ModelName,
    dataset: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The run's dataset, for contexts in the page.")
    ] = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="For a verdict.")] = VERDICT_TOKENS,
    system: options.System = None,
    dry_run: options.DryRun = False,
    batch_size: options.BatchSize = None,
    dtype: options.NumberType = "auto",
    attention: options.Attention = "sdpa",
    base_url: options.BaseUrl = None,
    tokenizer: options.TokenizerName = None,
    max_positions: options.MaxPositions = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = 600,
    limit_field: options.LimitField = "max_tokens",
    request_field: options.RequestFields = None,
) -> None:
    """Let a model say of every answer of a run whether it is correct; started again, it goes on where it stopped."""
    from rich.console import Console
    from rich.progress import Progress

    from builders.tokens import token_counter
    from eval_harness.protocols.frames import judge as judging
    from eval_harness.protocols.frames.questions import read_questions
    from eval_harness.protocols.records import record_of
    from eval_harness.run.results import Results

    record, rows, questions = record_of(run, "frames"), judging.to_judge(run), read_questions(run)
    counter = (tokenizer or COUNTER) if is_remote(model) else model
    if dry_run:
        prompts = {judging.judge_prompt(questions.asked[row.id], row.answer or "") for row in rows}
        tokens = sum(token_counter(counter).count_all(sorted(prompts)))
        typer.echo(f"{len(prompts)} different prompts: {tokens} tokens to read, template aside")
        return
    server = {"base_url": base_url, "max_positions": max_positions, "concurrency": concurrency, "timeout_s": timeout}
    asked = {"limit_field": limit_field, "request_field": request_field}
    loaded = ready(model, counter, dtype, attention, system, **server, **asked)
    name = re.sub(r"[^\w.+@-]+", "-", loaded.name)
    results = Results(run / judging.FOLDER / name, judging.judge_record(record, loaded, max_new_tokens))
    batch = batch_size or (ENDPOINT_BATCH if is_remote(model) else 1)
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("judge", total=len(rows))
        judging.judge(rows, questions, loaded, results, max_new_tokens, batch, lambda n: progress.advance(bar, n))
    typer.echo(f"verdicts: {results.folder}")
    _report(run, dataset, ("frames", "judges"))


def sheet(
    run: RunFolder,
    n: Annotated[int, typer.Option("--n", min=1, help="How many answers.")] = 50,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The sheet to write.")] = Path("labels.csv"),
) -> None:
    """Write answers of a run into a sheet, to label them by hand as correct or incorrect."""
    from builders.seeds import order_key
    from eval_harness.protocols.frames.judge import to_judge
    from eval_harness.protocols.frames.labels import write_sheet
    from eval_harness.protocols.frames.questions import read_questions

    def key(row: "Row") -> bytes:
        return order_key("sheet", row.id, row.method)

    rows = sorted(to_judge(run), key=key)[:n]
    if not rows:
        raise SetupError(f"{run} has no answer that could be read, so there is nothing to label")
    write_sheet(rows, read_questions(run), out)
    typer.echo(f"wrote {out}: {len(rows)} answers; label them, then run: icr2 frames agree {out} --run {run}")


def agree(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="A sheet with the columns id, method and label.")],
    run: Annotated[Path, typer.Option(metavar="RUN", help="The run whose answers are labelled.")],
) -> None:
    """Compare verdicts with labels that people gave: accuracy and Cohen's kappa, of the match and of every judge."""
    from rich.console import Console

    from eval_harness.protocols.frames.analysis import read_analysis
    from eval_harness.protocols.frames.labels import read_labels
    from eval_harness.protocols.frames.sections import agreements
    from eval_harness.report.terminal import shown

    found = read_analysis(run)
    compared = agreements(found, read_labels(labels, list(found.rows)))
    Console(width=max(100, get_terminal_size().columns)).print(shown(compared))


def _show(plan: FramesPlan, model: str, counter: str, positions: int | None) -> None:
    """Prints what a plan would ask: its first prompts, cut to fit, and how many more a search may take."""
    from builders.tokens import token_counter
    from eval_harness.models.local import find_checkpoint
    from eval_harness.models.template import load_config, load_tokenizer, position_limit

    if not is_remote(model):
        found = find_checkpoint(model, weights=False)
        positions = position_limit(load_config(found.folder, found.name), load_tokenizer(found.folder, found.name))
    if positions:
        plan = plan.fitting(token_counter(counter).count, positions)
    show_plan(plan, counter)
    for setting in plan.settings:
        if isinstance(setting.method, MultiStep):
            typer.echo(
                f"{setting.name}: up to {setting.method.steps.prompts} prompts a question, longer as it finds more"
            )


def _report(run: Path, dataset: Path | None, printed: Collection[str]) -> None:
    """Writes the report of a run, and prints some of its tables."""
    from rich.console import Console

    from eval_harness.protocols.frames import document
    from eval_harness.report.document import write_document
    from eval_harness.report.terminal import shown

    made, study, instances = document(run, dataset)
    console = Console(width=max(120, get_terminal_size().columns))
    for section in made.sections:
        if section.name in printed:
            console.print(shown(section))
    for path in write_document(made, study, instances, run / "report"):
        typer.echo(f"wrote {path}")
