"""`python -m benchmarks`: runs the benchmarks and prints their table."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from benchmarks import answer_filter, bm25, chunking, lm_eval, memory, prefix, rap, tfidf, validation
from benchmarks.inputs import kilt_folder
from benchmarks.report import Result, print_report, run_command, write_json
from builders.errors import SetupError

BENCHES = {
    "chunking": chunking.bench,
    "bm25": bm25.bench,
    "answer_filter": answer_filter.bench,
    "tfidf": tfidf.bench,
    "memory": memory.bench,
    "validation": validation.bench,
    "lm_eval": lm_eval.bench,
    "prefix": prefix.bench,
    "rap": rap.bench,
}


def run(
    only: Annotated[list[str] | None, typer.Option(help=f"One of: {', '.join(BENCHES)}. Repeat for several.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of real inputs, which contains kilt_mini.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the results to this JSON file.")] = None,
) -> None:
    """Compare with a peer, in one run. Exit code 1 if results differ; slowness is not a failure."""
    unknown = sorted(set(only or []) - set(BENCHES))
    if unknown:
        raise SetupError(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHES)}")
    folder = kilt_folder(data)
    console = Console(stderr=True)
    results: list[Result] = []
    for name in only or BENCHES:
        console.print(f"{name} ...", highlight=False)
        with TemporaryDirectory(prefix="icr2-bench-") as work:
            results += BENCHES[name](folder, Path(work))
    print_report(results, Console(width=140))
    if json:
        write_json(results, json)
    if any(result.agrees is False for result in results):
        raise typer.Exit(1)


if __name__ == "__main__":
    run_command(run)
