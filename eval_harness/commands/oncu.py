"""`icr2 oncu`."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.errors import SetupError
from eval_harness.commands import options
from eval_harness.commands.asking import answered, completed, counter_of, ready, show_plan
from eval_harness.conditions.ranking import ENCODER, RANKERS
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.methods.names import K
from eval_harness.protocols.oncu.matched import CITING, FULL, NONE, ORACLE, RETRIEVED
from eval_harness.run.plan import Plan

if TYPE_CHECKING:
    from eval_harness.protocols.oncu.analysis import Analysis

SHEET = "audit.csv"
_RUN, _LOOK = "Asking a model (DIR)", "Looking at its answers"


def register(app: typer.Typer) -> None:
    """Mounts the command on `app`."""
    app.command()(oncu)


def _run(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_RUN, **more)


def _look(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_LOOK, **more)


def oncu(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR|RUN...", help="A built dataset to run on, or runs to look at again.")
    ],
    config: Annotated[list[str] | None, _run("A config such as 1k_p75; may be given again.")] = None,
    model: Annotated[str | None, _run("As for icr2 eval.")] = None,
    retriever: Annotated[
        list[str] | None, _run(f"{', '.join(RANKERS)}; may be given again. Default: {RANKERS[0]}.")
    ] = None,
    k: Annotated[int, _run("Passages that it shows.", min=1)] = K,
    task: options.Tasks = None,
    split: options.Split = "test",
    limit: options.Limit = None,
    system: options.System = None,
    encoder: options.EncoderName = ENCODER,
    max_new_tokens: options.MaxNewTokens = None,
    dry_run: options.DryRun = False,
    out: Annotated[
        Path | None, typer.Option(metavar="RUN", help="The run's folder; of several runs, their report's.")
    ] = None,
    group_by: Annotated[
        str | None,
        _look("task, model, instance, hops, reasoning_types, context_id, depth, or a flag."),
    ] = None,
    dataset: Annotated[Path | None, _look("The dataset of RUN, for queries, contexts, columns.", metavar="DIR")] = None,
    audit: Annotated[int | None, _look(f"Write N instances to {SHEET}, to give failure modes by hand.", min=1)] = None,
    labels: Annotated[Path | None, _look("That sheet, filled: prints agreement and kappa.", metavar="FILE")] = None,
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
    """Asks the same without evidence, with all, with retrieved and with gold alone, and says what contexts recover."""
    asks = (folders[0] / "manifest.json").is_file()
    if not asks:
        if config or model or dry_run:
            raise SetupError(f"{folders[0]} is no dataset, and only one can be run on; leave out --config and --model")
        _look_at(folders, out, group_by, dataset, audit, labels)
        return
    if len(folders) > 1 or not config or not model:
        raise SetupError("to run the protocol name one dataset, --config and --model; to look at runs, name runs alone")
    plan = completed(
        Plan(
            open_dataset(folders[0]),
            tuple(dict.fromkeys(config)),
            conditions(retriever or RANKERS[:1], k),
            split,
            tuple(dict.fromkeys(task or ())),
            limit,
            encoder=encoder,
        ),
        model,
        max_new_tokens,
        batch_size,
        max_batch_tokens,
        prefix_reuse,
    )
    check_parts(plan.dataset, config, split)
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
    run = answered(plan, loaded, out, protocol="oncu").folder
    _look_at([run], None, group_by, folders[0], audit, labels)


def conditions(retrievers: Sequence[str], k: int) -> tuple[str, ...]:
    """The names of the four conditions, all with the contract to answer and to cite; SetupError for no retriever."""
    if unknown := [name for name in retrievers if name not in RANKERS]:
        raise SetupError(f"no retriever {', '.join(unknown)}; there are {', '.join(RANKERS)}")
    retrieved = [f"{RETRIEVED}{ranker}@{k}{CITING}" for ranker in retrievers]
    return (NONE, FULL, *retrieved, ORACLE)


def _look_at(
    runs: Sequence[Path],
    out: Path | None,
    by: str | None,
    dataset: Path | None,
    audit: int | None,
    labels: Path | None,
) -> None:
    """Writes the report of runs, and prints its main tables."""
    from eval_harness.protocols.oncu.analysis import LABELLED, analysed, read_view, view_of, write_view
    from eval_harness.protocols.oncu.audit import read_sheet, write_sheet
    from eval_harness.protocols.oncu.matched import matched
    from eval_harness.protocols.oncu.reported import document_of, instances_with
    from eval_harness.report.document import write_document
    from eval_harness.report.study import one_study, read_studies

    folder = _folder(runs, out)
    study = one_study(read_studies(runs))
    instances = instances_with(study, dataset)
    if audit and not instances:
        raise SetupError("--audit needs the dataset, for queries and gold; give it with --dataset DIR")
    same = matched(study)  # or an error, before anything is written
    view = view_of(study, by, dataset, read_view(folder))
    by_hand = read_sheet(labels, same) if labels else None
    folder.mkdir(parents=True, exist_ok=True)
    write_view(view, folder)
    if labels and by_hand and labels.resolve() != (folder / LABELLED).resolve():
        shutil.copyfile(labels, folder / LABELLED)
    found = analysed(study, folder)
    written = write_document(document_of(found), study, instances, folder / "report")
    _print(found)
    for path in written:
        typer.echo(f"wrote {path}")
    if audit:
        n = write_sheet(found.matched, instances, audit, folder / SHEET)
        typer.echo(f"wrote {folder / SHEET}: {n} instances to be labelled, then give it with --labels")


def _folder(runs: Sequence[Path], out: Path | None) -> Path:
    """Where what is said of runs is kept: in the run itself, or for several in a folder of its own."""
    if out is not None:
        return out
    if len(runs) > 1:
        raise SetupError(f"{len(runs)} runs have one report; say with --out where it goes")
    return runs[0]


def _print(found: "Analysis") -> None:
    from rich.console import Console

    from eval_harness.protocols.oncu.sections import sections
    from eval_harness.report.terminal import shown

    console = Console(width=max(140, shutil.get_terminal_size().columns))
    for section in sections(found):
        if section.short and section.name != "scores":  # whose means stand beside R
            console.print(shown(section))
