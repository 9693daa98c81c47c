"""The commands of the builder: build, show, sql, doctor."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from builders.options import DatasetFolder, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from builders.config import Recipe, Source
    from builders.synthetic.base import MadeRecipe


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
    work: Annotated[Path | None, typer.Option(help="The work folder; without it, OUT.work.")] = None,
    dry_run: Annotated[bool, option("dry_run", "Checks the recipe.", "--dry-run")] = False,
) -> None:
    """Build a dataset from a recipe. A build that was stopped goes on where it was; one that is made begins again."""
    from builders.config import Recipe
    from builders.load_recipe import load_recipe
    from builders.manifest import read_manifest
    from builders.summary import summary_table
    from builders.synthetic.base import MadeRecipe

    loaded, base = load_recipe(recipe, settings or [], limit)
    out, work = out.absolute(), (work or out.with_name(f"{out.name}.work")).absolute()
    if dry_run:
        Console().print(f"{loaded.name} {loaded.version}: {', '.join(loaded.configs)}")
    if isinstance(loaded, Recipe):
        notes = _staged(loaded, base, out, work, workers, dry_run)
    elif isinstance(loaded, MadeRecipe):
        notes = _made(loaded, base, out, work, dry_run)
    if dry_run:
        return
    Console(width=max(100, shutil.get_terminal_size().columns)).print(summary_table(out, read_manifest(out)))
    for line in notes:
        Console(stderr=True, soft_wrap=True).print(line, highlight=False)
    Console(soft_wrap=True).print(f"{loaded.name} {loaded.version} is in {out}", highlight=False)


def _staged(recipe: "Recipe", base: Path, out: Path, work: Path, workers: int, dry_run: bool) -> list[str]:
    """Builds by the pipeline's stages, or says which are done; returns what the user is told at the end."""
    from builders.pipeline import check_names, prepare, run_build, sources_of
    from builders.summary import warnings

    if dry_run:
        check_names(recipe)
        if _says_downloads(sources_of(recipe).values(), recipe.base(base), work):
            return []
        digests = prepare(recipe, base, work).digests
        done = [name for name, digest in digests.items() if (work / f"stages/{name}-{digest[:16]}/done.json").exists()]
        to_do = [name for name in digests if name not in done]
        Console().print(f"stages done: {', '.join(done) or 'none'}; to do: {', '.join(to_do) or 'none'}")
        return []
    finished = run_build(recipe, base, out, work, workers, Console(stderr=True))
    seconds = json.loads((work / "seconds.json").read_text(encoding="utf-8"))
    spent = "seconds: " + ", ".join(f"{stage} {spent:,.0f}" for stage, spent in seconds.items())
    return [spent, *(f"note: {line}" for line in warnings(finished))]


def _made(recipe: "MadeRecipe", base: Path, out: Path, work: Path, dry_run: bool) -> list[str]:
    """Builds a made dataset, or checks what it is made from; returns what the user is told at the end."""
    from builders.synthetic.build import check_inputs, run_made, sources_of

    if dry_run:
        if not _says_downloads(sources_of(recipe, base).values(), recipe.base(base), work):
            check_inputs(recipe, base, work)
        return []
    counts = run_made(recipe, base, out, work, Console(stderr=True))["counts"][recipe.kind]
    return [f"counts: {', '.join(f'{name} {n:,}' for name, n in sorted(counts.items()))}"] if counts else []


def _says_downloads(sources: "Iterable[Source]", base: Path, work: Path) -> bool:
    """Says what would be downloaded, where anything would, since no digest can be told before."""
    from builders.sources.fetch import yet_to_download

    urls = yet_to_download(sources, base, work / "cache")
    if urls:
        Console(soft_wrap=True).print(f"to download, and then to build from: {', '.join(urls)}", highlight=False)
    return bool(urls)


def show(
    folder: DatasetFolder,
    config: Annotated[str, typer.Argument(help="A config, such as 1k_p75.")],
    id: Annotated[str, typer.Argument(help="An instance's id, such as nq-demo-nq-001.")],
) -> None:
    """Print one instance: gold passages green, confounders red, random ones dim."""
    from builders.show import print_instance
    from builders.views import readable

    with readable(folder):
        print_instance(folder, config, id, Console())


def sql(
    folder: DatasetFolder,
    query: Annotated[str, typer.Argument(help="SQL over one view for each config, and `all_configs` over all.")],
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
) -> None:
    """Run a DuckDB query over a dataset. Every view has the columns of the dataset and `split`."""
    from builders.views import run_sql

    run_sql(folder, query, csv, Console())


def figure(
    folder: DatasetFolder,
    out: Annotated[Path, typer.Argument(help="A .png or .svg file.")],
    length: Annotated[str, typer.Option(help="A length of the dataset, such as 4k.")] = "4k",
) -> None:
    """Draw what contexts are made of: passages and tokens by role at every confounding ratio."""
    from builders.figure import write_figure
    from builders.views import readable

    with readable(folder):
        write_figure(folder, length, out)
    Console(soft_wrap=True).print(f"wrote {out}", highlight=False)


def doctor() -> None:
    """Say what is and is not here (Java, device, bundled models, versions), and what to run for what is missing."""
    from builders.doctor import print_report

    print_report(Console(soft_wrap=True))
