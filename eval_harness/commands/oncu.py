"""`icr2 oncu`."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.display import say
from builders.errors import SetupError
from builders.options import SEVERAL, grouped, option
from eval_harness.commands import options
from eval_harness.commands.asking import answered, completed, counter_of, ready, show_plan
from eval_harness.commands.unused import refuse_unused
from eval_harness.conditions.ranking import ENCODER, RANKERS
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.methods.retrieved import K
from eval_harness.protocols.base import Protocol
from eval_harness.protocols.oncu.matched import CITING, FULL, NONE, ORACLE, RETRIEVED
from eval_harness.run.plan import Plan

if TYPE_CHECKING:
    from eval_harness.protocols.base import Reported
    from eval_harness.protocols.oncu.analysis import Analysis

SHEET = "audit.csv"
_RUN, _LOOK = "Running a model (DIR)", "Reporting runs (RUN)"


def register(app: typer.Typer) -> None:
    """Mounts the command on `app`."""
    app.command(help=PROTOCOL.says)(oncu)


def _look(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_LOOK, **more)


@dataclass(frozen=True)
class Asked(options.Answering):
    """The model to run, if any."""

    model: Annotated[
        str, option("model", "Or openai:MODEL behind a chat endpoint.", panel=_RUN, show_default=False)
    ] = ""


@dataclass(frozen=True)
class Conditions:
    """The part of the dataset and the retrievers to run."""

    config: Annotated[list[str] | None, option("config", SEVERAL, panel=_RUN)] = None
    retriever: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(RANKERS)}. {SEVERAL} Default: {RANKERS[0]}.", rich_help_panel=_RUN),
    ] = None
    k: Annotated[int, option("k", panel=_RUN, min=1)] = K


@dataclass(frozen=True)
class Look:
    """Options of the report."""

    group_by: Annotated[
        str | None,
        _look("task, model, instance, hops, reasoning_types, context_id, depth, or a flag."),
    ] = None
    dataset: Annotated[
        Path | None, option("dataset", "Adds queries, contexts and columns to group by.", panel=_LOOK, metavar="DIR")
    ] = None
    audit: Annotated[int | None, _look(f"Write N instances to {SHEET}, to label failure modes by hand.", min=1)] = None
    labels: Annotated[Path | None, _look(f"Labelled {SHEET}; adds agreement and kappa.", metavar="FILE")] = None


@grouped
def oncu(
    *,
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR|RUN...", help="Dataset folder to run on, or finished runs to report.")
    ],
    chosen: Conditions,
    asked: Asked,
    rows: options.Part,
    encoder: options.Encoder = ENCODER,
    run: options.Run,
    look: Look,
    speed: options.Batches,
    server: options.Server,
) -> None:
    """Runs the protocol on a dataset, or reports runs of it."""
    if not (folders[0] / "manifest.json").is_file():
        if chosen.config or asked.model or run.dry_run:
            raise SetupError(f"{folders[0]} is not a dataset; to report runs, leave out --config and --model")
        _look_at(folders, run.out, look)
        return
    if len(folders) > 1 or not chosen.config or not asked.model:
        raise SetupError(
            "to run the protocol, give one dataset, --config and --model; to report runs, give only run folders"
        )
    dataset = open_dataset(folders[0])
    check_parts(dataset, chosen.config, rows.split)
    plan = Plan(
        dataset,
        options.once(chosen.config),
        conditions(chosen.retriever or RANKERS[:1], chosen.k),
        rows.split,
        rows.tasks,
        rows.limit,
        shard=rows.part,
        encoder=encoder,
    )
    plan = completed(plan, asked, speed)
    refuse_unused(asked, speed, server, dry_run=run.dry_run)
    counter = counter_of(asked, server, dataset)
    if run.dry_run:
        show_plan(plan, counter, server.prices)
        return
    finished = answered(plan, ready(asked, speed, server, counter), run.out, protocol="oncu").folder
    _look_at([finished], None, replace(look, dataset=folders[0]))


def conditions(retrievers: Sequence[str], k: int) -> tuple[str, ...]:
    """The method names of the four conditions, all with citing prompts; SetupError for an unknown retriever."""
    if unknown := [name for name in retrievers if name not in RANKERS]:
        raise SetupError(f"no retriever {', '.join(unknown)}; available: {', '.join(RANKERS)}")
    retrieved = [f"{RETRIEVED}{ranker}@{k}{CITING}" for ranker in retrievers]
    return (NONE, FULL, *retrieved, ORACLE)


def _look_at(runs: Sequence[Path], out: Path | None, look: Look) -> None:
    """Writes the report of runs, and prints its main tables."""
    from eval_harness.protocols.oncu.analysis import LABELLED, analysed, read_view, view_of, write_view
    from eval_harness.protocols.oncu.audit import read_sheet, write_sheet
    from eval_harness.protocols.oncu.matched import matched
    from eval_harness.protocols.oncu.reported import document_of, instances_with
    from eval_harness.report.document import write_document
    from eval_harness.report.study import one_study, read_studies

    folder = _folder(runs, out)
    study = one_study(read_studies(runs))
    instances = instances_with(study, look.dataset)
    if look.audit and not instances:
        raise SetupError("--audit needs the dataset, for queries and gold; give it with --dataset DIR")
    same = matched(study)  # raises before anything is written
    view = view_of(study, look.group_by, look.dataset, read_view(folder))
    by_hand = read_sheet(look.labels, same) if look.labels else None
    folder.mkdir(parents=True, exist_ok=True)
    write_view(view, folder)
    if look.labels and by_hand and look.labels.resolve() != (folder / LABELLED).resolve():
        shutil.copyfile(look.labels, folder / LABELLED)
    found = analysed(study, folder)
    written = write_document(document_of(found), study, instances, folder / "report")
    _print(found)
    for path in written:
        say(f"wrote {path}")
    if look.audit:
        n = write_sheet(found.matched, instances, look.audit, folder / SHEET)
        say(f"wrote {folder / SHEET}: {n} instances; label them, then pass the file with --labels")


def _folder(runs: Sequence[Path], out: Path | None) -> Path:
    """The report's folder: the run itself, or --out for several runs."""
    if out is not None:
        return out
    if len(runs) > 1:
        raise SetupError(f"{len(runs)} runs are reported together; give a folder for the report with --out")
    return runs[0]


def _print(found: "Analysis") -> None:
    from builders.display import Terminal
    from eval_harness.protocols.oncu.sections import sections
    from eval_harness.report.terminal import shown

    console = Terminal(width=max(140, shutil.get_terminal_size().columns))
    for section in sections(found):
        if section.short and section.name != "scores":  # the table of R has its means too
            console.print(shown(section))


def _document(run: Path, dataset: Path | None) -> "Reported":
    from eval_harness.protocols.oncu import document

    return document(run, dataset)


PROTOCOL = Protocol(
    "Compare no, full, retrieved and gold context; report the share recovered (ONCU).",
    register,
    _document,
)
