"""The commands of the builder: build, show, sql, doctor."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builders.display import Terminal, say
from builders.options import DatasetFolder, option

if TYPE_CHECKING:
    from builders.config import AnyRecipe


def register(app: typer.Typer) -> None:
    """Adds the builder's commands to an app."""
    for command in (build, show, sql, figure, doctor):
        app.command()(command)


def build(
    recipe: Annotated[
        str, typer.Argument(help="A recipe file, or the name of a bundled one, such as demo, kilt or controlled.")
    ],
    out: Annotated[Path, option("out")] = Path("icr2"),
    settings: Annotated[list[str] | None, option("set", "", "--set", metavar="KEY=VALUE")] = None,
    limit: Annotated[int | None, option("limit", "In each split.", min=1)] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = os.cpu_count() or 1,
    work: Annotated[Path | None, typer.Option(help="Work folder; default: OUT.work.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another dataset in the output folder.")
    ] = False,
    dry_run: Annotated[bool, option("dry_run", "Checks the recipe.", "--dry-run")] = False,
) -> None:
    """Build a dataset from a recipe. Resumable: rerun to continue an interrupted build."""
    from builders.lengths import length_notes
    from builders.load_recipe import load_recipe
    from builders.manifest import read_manifest
    from builders.pipeline import pipeline_of, run_build
    from builders.summary import summary_table, warnings

    loaded, folder = load_recipe(recipe, settings or [], limit)
    out = out.absolute()
    work = (work or out.parent / f"{out.name or 'root'}.work").absolute()
    if dry_run:
        _dry_run(loaded, folder, work)
        return
    finished = run_build(loaded, folder, out, work, workers, Terminal(stderr=True), overwrite)
    manifest = read_manifest(out)
    Terminal(width=max(100, shutil.get_terminal_size().columns)).print(summary_table(out, manifest))
    seconds = json.loads((work / "seconds.json").read_text(encoding="utf-8"))
    notes = ["seconds: " + ", ".join(f"{stage} {spent:,.0f}" for stage, spent in seconds.items())]
    lines = [*warnings(finished, pipeline_of(loaded).stages), *length_notes(finished, out, manifest)]
    notes += [f"note: {line}" for line in lines]
    for line in notes:
        say(line, stderr=True)
    what = f"{loaded.name} {loaded.version}"
    done = f"unchanged: {what} is in {out} already" if finished.unchanged else f"wrote {what} to {out}"
    say(done)


def _dry_run(recipe: "AnyRecipe", folder: Path, work: Path) -> None:
    """Prints what would be built and downloaded and, where every input is local, which stages are done."""
    from builders.pipeline import pipeline_of, prepare
    from builders.preview import shortages
    from builders.sources.fetch import yet_to_download

    say(f"{recipe.name} {recipe.version}: {', '.join(recipe.configs)}")
    base = recipe.base(folder)
    urls = yet_to_download(pipeline_of(recipe).sources(recipe, base).values(), base, work / "cache")
    if urls:  # digests need the files
        say(f"to download first: {', '.join(urls)}")
    build = None if urls else prepare(recipe, folder, work)
    for line in shortages(recipe, build.inputs if build else {}):
        say(f"note: {line}")
    if build is None:
        return
    done = [stage for stage in build.digests if (build.folder(stage) / "done.json").exists()]
    to_do = [stage for stage in build.digests if stage not in done]
    say(f"stages done: {', '.join(done) or 'none'}; to do: {', '.join(to_do) or 'none'}")


def show(
    folder: DatasetFolder,
    config: Annotated[str, typer.Argument(help="A config, such as 1k_p75.")],
    id: Annotated[str, typer.Argument(help="An instance's id, such as nq-demo-nq-001.")],
    every: Annotated[bool, typer.Option("--all", help="Print every passage, also where there are thousands.")] = False,
) -> None:
    """Print one instance: gold passages green, confounders red, random ones dim."""
    from builders.show import print_instance
    from builders.views import readable

    with readable(folder):
        print_instance(folder, config, id, Terminal(), every)


def sql(
    folder: DatasetFolder,
    query: Annotated[str, typer.Argument(help="SQL over one view per config, and `all_configs`.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="Allow any statement, and reading and writing any file.")
    ] = False,
) -> None:
    """Run one DuckDB query over a dataset. Every view has the dataset's columns and `split`."""
    from builders.views import run_sql

    run_sql(folder, query, csv, Terminal(), unsafe)


def figure(
    folder: DatasetFolder,
    out: Annotated[Path, typer.Argument(help="A .png or .svg file.")],
    length: Annotated[str, typer.Option(help="A length of the dataset, such as 4k.")] = "4k",
) -> None:
    """Plot the composition of contexts: passages and tokens by role at every confounding ratio."""
    from builders.figure import write_figure
    from builders.views import readable

    with readable(folder):
        write_figure(folder, length, out)
    say(f"wrote {out}")


def doctor() -> None:
    """Check the installation: Java, device, bundled models, versions; print how to install what is missing."""
    from builders.doctor import print_report

    print_report(Terminal())
