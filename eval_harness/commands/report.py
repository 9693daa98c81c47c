"""`icr2 report` and `icr2 view`."""

from collections.abc import Iterable
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from builders.display import say
from builders.errors import SetupError
from builders.options import SEVERAL, DatasetFolder, option
from eval_harness.commands import options
from eval_harness.report.document import FORMATS

if TYPE_CHECKING:
    from eval_harness.report.study import Study


def register(app: typer.Typer) -> None:
    """Mounts the commands on `app`."""
    app.command()(report)
    app.command()(view)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run folders of `icr2 eval`, or one run folder of a protocol."),
    ],
    dataset: Annotated[
        Path | None, option("dataset", "Adds queries and contexts to the HTML page.", metavar="DIR")
    ] = None,
    out: Annotated[Path, option("out", metavar="FOLDER")] = Path("report"),
    format: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(FORMATS)}. {SEVERAL} Default: all.")
    ] = None,
    baseline: Annotated[str, typer.Option(help="Method to compare the others with.")] = "vanilla_rag",
    apart: Annotated[bool, typer.Option("--apart", help="Write a separate report for each dataset.")] = False,
) -> None:
    """Write a report of one or several runs: tables and figures with intervals, and a page of single instances."""
    from builders.bar import late_bar
    from builders.display import Terminal
    from eval_harness.report.study import n_results, one_study, read_studies

    formats = tuple(dict.fromkeys(format or FORMATS))
    if unknown := sorted(set(formats) - set(FORMATS)):
        raise SetupError(f"no format {', '.join(unknown)}; available: {', '.join(FORMATS)}")
    if _of_protocol(runs, dataset, out, formats):
        return
    with late_bar("reading results", sum(map(n_results, runs)), Terminal(stderr=True)) as advance:
        studies = read_studies(runs, listed=True, advance=advance)
    if not apart:
        _write(one_study(studies), dataset, out, formats, baseline)
        return
    if dataset and len(studies) > 1:
        raise SetupError(
            "--dataset is one dataset, but the runs are on several; leave it out, or report each dataset's runs alone"
        )
    for study in studies:
        _write(study, dataset, out / f"{study.name}-{study.version}-{study.manifest_sha256[:8]}", formats, baseline)


def _of_protocol(runs: list[Path], dataset: Path | None, out: Path, formats: tuple[str, ...]) -> bool:
    """Writes the report of a protocol's run; returns whether there was one. SetupError if it is not the only run."""
    from eval_harness.commands.protocols import PROTOCOLS, protocol_of
    from eval_harness.report.document import write_document

    found = {run: name for run in runs if (name := protocol_of(run))}
    if not found:
        return False
    run, name = next(iter(found.items()))
    if len(runs) > 1:
        raise SetupError(f"{run} is a run of the protocol {name}, which has its own report; report it alone")
    _wrote(write_document(*PROTOCOLS[name].document(run, dataset), out, formats))
    return True


def view(
    folder: DatasetFolder,
    config: options.AnyConfigs = None,
    split: options.Split = "test",
    limit: Annotated[int, option("limit", min=1)] = 10,
    out: Annotated[Path, option("out", metavar="FILE")] = Path("view.html"),
) -> None:
    """Write a page of instances: queries, answers, and contexts with gold and confounders marked."""
    from builders.views import readable
    from eval_harness.data.dataset import open_dataset
    from eval_harness.report.instances import first_instances
    from eval_harness.report.page import write_page
    from eval_harness.report.parts import Document

    dataset = open_dataset(folder)
    with readable(folder):
        instances = first_instances(folder, tuple(dict.fromkeys(config or ())), split, limit)
    subtitle = f"First {limit} {split} instances of each task in each config; manifest sha256 {dataset.manifest_sha256}"
    out.parent.mkdir(parents=True, exist_ok=True)
    write_page(Document(f"{dataset.name} {dataset.version}", subtitle), None, instances, out)
    _wrote([out])


def _write(study: "Study", dataset: Path | None, out: Path, formats: tuple[str, ...], baseline: str) -> None:
    from builders.display import Terminal
    from builders.views import readable
    from eval_harness.report.document import write_document
    from eval_harness.report.instances import Instances, instances_of
    from eval_harness.report.missing import missing
    from eval_harness.report.runs import study_document
    from eval_harness.report.table import cells, table

    instances: Instances = {}
    if dataset:
        with readable(dataset):
            instances = instances_of(study, dataset)
    written = write_document(study_document(study, baseline), study, instances, out, formats)
    console = Terminal(width=max(120, get_terminal_size().columns))
    for label, rows in study.rows.items():
        console.print(table(cells(rows), f"{study.title}, {label}"))
    for one in missing(study):
        console.print(
            f"missing: {one.model}, {one.config}, {one.method}: {one.found} of {one.planned} results; "
            "rerun icr2 eval to resume",
            markup=False,
            highlight=False,
        )
    _wrote(written)


def _wrote(paths: Iterable[Path]) -> None:
    for path in paths:
        say(f"wrote {path}")
