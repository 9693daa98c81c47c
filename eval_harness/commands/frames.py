"""`icr2 frames run`, `judge`, `sheet` and `agree`."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from builders.display import say
from builders.errors import SetupError
from builders.options import MEANS, SEVERAL, DatasetFolder, grouped, option
from eval_harness.commands import options
from eval_harness.commands.asking import answered, batch_of, completed, counter_of, ready, show_cost, show_plan
from eval_harness.commands.unused import refuse_unused
from eval_harness.data.dataset import check_parts, open_dataset
from eval_harness.methods.multistep.steps import MultiStep
from eval_harness.models import is_remote
from eval_harness.protocols.base import Protocol
from eval_harness.protocols.frames.plan import DEFAULT, INDEX, PAPER, FramesPlan, IndexKind

if TYPE_CHECKING:
    from eval_harness.protocols.base import Reported
    from eval_harness.run.results import Row

_SEARCH = "Search"
VERDICT_TOKENS = 16
COUNTER = "smollm2"  # the tokenizer for a judge behind an endpoint

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder of `icr2 frames run`.")]


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app` as a group of their own."""
    group = typer.Typer(help=PROTOCOL.says, no_args_is_help=True)
    for command in (run, judge, sheet, agree):
        group.command()(command)
    app.add_typer(group, name="frames")


def _search(help: str, **more: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_SEARCH, **more)


@dataclass(frozen=True)
class Search:
    """The articles to search, and the index over them."""

    articles: Annotated[
        str | None, _search("Knowledge source to search, such as kilt=pages.json. Default: the articles of the config.")
    ] = None
    index: Annotated[IndexKind, _search("bm25: Lucene; bm25s: no Java needed.")] = INDEX
    query_tokens: Annotated[
        int | None, _search("Token limit for the queries of one round. Default: by prompt style.", min=8)
    ] = None
    each_round: Annotated[bool, _search("Answer after every round, or only after the last.")] = True


@dataclass(frozen=True)
class Judge(options.Prompted):
    """The judge model and its settings."""

    max_new_tokens: Annotated[int, option("max_new_tokens", "Applies to a verdict.", min=1)] = VERDICT_TOKENS


@dataclass(frozen=True)
class JudgeServer(options.Server):
    """Settings of a judge behind a chat endpoint."""

    tokenizer: Annotated[str, option("tokenizer", panel=options.SERVER)] = COUNTER


@grouped
def run(
    *,
    folder: DatasetFolder,
    config: options.Config,
    asked: options.Answering,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{MEANS['method']} Here: closed_book, retrieved_bm25@K, oracle_rag or "
            "multistep@ROUNDSxQUERIESxARTICLES[+plan]. "
            f"{SEVERAL} Default: {', '.join(DEFAULT)}; with --paper also {PAPER[-1]}."
        ),
    ] = None,
    search: Search,
    rows: options.Part,
    run: options.Run,
    speed: options.Batches,
    server: options.Server,
) -> None:
    """Answer a config's questions with each method. Resumable: rerun to resume."""
    from eval_harness.protocols.frames.questions import keep_questions

    dataset = open_dataset(folder)
    check_parts(dataset, [config], rows.split)
    plan = FramesPlan(
        dataset,
        (config,),
        options.once(method or (PAPER if asked.paper else DEFAULT)),
        rows.split,
        rows.tasks,
        rows.limit,
        shard=rows.part,
        source=search.articles,
        index=search.index,
        query_tokens=search.query_tokens,
        each_round=search.each_round,
    )
    plan = completed(plan, asked, speed)
    refuse_unused(asked, speed, server, dry_run=run.dry_run)
    counter = counter_of(asked, server, dataset)
    if run.dry_run:
        _show(plan, asked, counter, server)
        return
    loaded = ready(asked, speed, server, counter)
    plan = plan.fitting(loaded.count, loaded.max_positions)
    finished = answered(plan, loaded, run.out, **plan.facts()).folder
    keep_questions(dataset, config, rows.split, finished)
    _report(finished, folder, ("frames", "types", "articles", "rounds", "gap"))


class _Verdict(NamedTuple):
    """A judge prompt, to count its tokens."""

    answer_key: tuple[str, str | None]
    n_prompt_tokens: int
    max_new_tokens: int


@grouped
def judge(
    *,
    run: RunFolder,
    asked: Judge,
    dataset: Annotated[Path | None, option("dataset", "Adds contexts to the HTML page.", metavar="DIR")] = None,
    dry_run: options.DryRun = False,
    speed: options.Speed,
    server: JudgeServer,
) -> None:
    """Judge every answer of a run as correct or incorrect with a model. Resumable: rerun to resume."""
    from rich.progress import Progress

    from builders.display import Terminal
    from builders.tokens import token_counter
    from eval_harness.protocols.frames import judge as judging
    from eval_harness.protocols.frames.questions import read_questions
    from eval_harness.protocols.frames.record import run_record
    from eval_harness.run.results import Results

    refuse_unused(asked, speed, server, dry_run=dry_run)
    record, rows, questions = run_record(run), judging.to_judge(run), read_questions(run)
    counter = server.tokenizer if is_remote(asked.model) else asked.model
    if dry_run:
        prompts = sorted({judging.judge_prompt(questions.asked[row.id], row.answer or "") for row in rows})
        lengths = token_counter(counter).count_all(prompts)
        pairs = zip(prompts, lengths, strict=True)
        show_cost((_Verdict(("", text), n, asked.max_new_tokens) for text, n in pairs), server.prices)
        return
    loaded = ready(asked, speed, server, counter)
    name = re.sub(r"[^\w.+@-]+", "-", loaded.name)
    results = Results(run / judging.FOLDER / name, judging.judge_record(record, loaded, asked.max_new_tokens))
    batch = batch_of(asked, speed)
    with Progress(console=Terminal(stderr=True)) as progress:
        bar = progress.add_task("judge", total=len(rows))
        judging.judge(rows, questions, loaded, results, asked.max_new_tokens, batch, lambda n: progress.advance(bar, n))
    say(f"verdicts: {results.folder}")
    _report(run, dataset, ("frames", "judges"))


def sheet(
    run: RunFolder,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of answers.")] = 50,
    out: Annotated[Path, option("out", metavar="FILE")] = Path("labels.csv"),
) -> None:
    """Write answers of a run to a CSV file, to label by hand as correct or incorrect."""
    from builders.seeds import order_key
    from eval_harness.protocols.frames.judge import to_judge
    from eval_harness.protocols.frames.labels import write_sheet
    from eval_harness.protocols.frames.questions import read_questions

    def key(row: "Row") -> bytes:
        return order_key("sheet", row.id, row.method)

    rows = sorted(to_judge(run), key=key)[:n]
    if not rows:
        raise SetupError(f"{run} has no readable answer, so there is nothing to label")
    write_sheet(rows, read_questions(run), out)
    say(f"wrote {out}: {len(rows)} answers; label them, then run: icr2 frames agree {out} --run {run}")


def agree(
    labels: Annotated[
        Path, typer.Argument(metavar="LABELS", help="Labelled CSV file with the columns id, method and label.")
    ],
    run: Annotated[Path, typer.Option(metavar="RUN", help="Run that the labelled answers come from.")],
) -> None:
    """Compare verdicts with human labels: accuracy and Cohen's kappa of the match and of every judge."""
    from builders.display import Terminal
    from eval_harness.protocols.frames.analysis import read_analysis
    from eval_harness.protocols.frames.labels import read_labels
    from eval_harness.protocols.frames.sections import agreements
    from eval_harness.report.terminal import shown

    found = read_analysis(run)
    compared = agreements(found, read_labels(labels, list(found.rows)))
    Terminal(width=max(100, get_terminal_size().columns)).print(shown(compared))


def _show(plan: FramesPlan, asked: options.Prompted, counter: str, server: options.Server) -> None:
    """Previews a plan: its first prompts, cut to fit, and the most further prompts that each search may take."""
    from builders.tokens import token_counter
    from eval_harness.models.local import find_checkpoint
    from eval_harness.models.template import load_config, load_tokenizer, position_limit

    positions = asked.max_positions
    if positions is None and not is_remote(asked.model):
        found = find_checkpoint(asked.model, weights=False)
        positions = position_limit(load_config(found.folder, found.name), load_tokenizer(found.folder, found.name))
    if positions:
        plan = plan.fitting(token_counter(counter).count, positions)
    show_plan(plan, counter, server.prices)
    for setting in plan.settings:
        if isinstance(setting.method, MultiStep):
            say(f"{setting.name}: up to {setting.method.steps.prompts} prompts per question, longer as it finds more")


def _report(run: Path, dataset: Path | None, printed: Collection[str]) -> None:
    """Writes the report of a run, and prints its main tables."""
    from builders.display import Terminal
    from eval_harness.protocols.frames import document
    from eval_harness.report.document import write_document
    from eval_harness.report.terminal import shown

    made, study, instances = document(run, dataset)
    console = Terminal(width=max(120, get_terminal_size().columns))
    for section in made.sections:
        if section.name in printed:
            console.print(shown(section))
    for path in write_document(made, study, instances, run / "report"):
        say(f"wrote {path}")


def _document(run: Path, dataset: Path | None) -> "Reported":
    from eval_harness.protocols.frames import document

    return document(run, dataset)


PROTOCOL = Protocol("Questions over several articles, with and without search (FRAMES).", register, _document)
