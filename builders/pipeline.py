"""The build: stages in order, as in the paper's section 3.2, and the one rename that makes the dataset appear."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from builders.assemble import assemble
from builders.config import Recipe, Source, digest_of
from builders.engine import Pool, Stage, progress_bars, run_stage
from builders.errors import SetupError
from builders.files import checked_folder, write_json
from builders.retrieve import RETRIEVERS
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.sources.fetch import digest_of_file, fetch
from builders.stages.candidates import make_filter, make_pool, plan_filter, plan_pool
from builders.stages.contexts import make_loft, make_mix, plan_loft, plan_mix
from builders.stages.files import make_write, plan_write
from builders.stages.pages import make_chunk, make_index, make_pages, plan_chunk, plan_index, plan_pages
from builders.stages.questions import make_gold, make_questions, plan_gold, plan_questions
from builders.stages.retrieval import make_retrieve, make_search_index, plan_retrieve, plan_search_index
from builders.tokens import token_counter
from builders.work import Build, only_one

MIX = ("tokenizer", "seed", "reserve")

# name, what the bar says, code version, stages read, recipe fields read, plan, make, alone
STAGES = [
    Stage("pages", "read pages", 1, (), ("knowledge",), plan_pages, make_pages, alone=True),
    Stage("chunk", "chunk pages", 1, ("pages",), ("chunk_words",), plan_chunk, make_chunk),
    Stage("index", "index pages", 1, ("chunk",), (), plan_index, make_index),
    Stage("questions", "read questions", 1, ("index",), ("tasks", "seed", "limit"), plan_questions, make_questions),
    Stage("gold", "find gold passages", 1, ("questions",), ("tasks",), plan_gold, make_gold),
    Stage("search_index", "index for retrieval", 1, ("index",), ("retrievers", "runs"), plan_search_index,
          make_search_index, alone=True),
    Stage("retrieve", "retrieve", 1, ("gold", "search_index"), ("retrievers", "runs"), plan_retrieve, make_retrieve,
          alone=True),
    Stage("pool", "pool", 1, ("retrieve",), (), plan_pool, make_pool),
    Stage("filter", "filter", 1, ("pool",), ("seed", "lengths", "reserve", "ratios"), plan_filter, make_filter),
    Stage("mix", "mix", 1, ("filter",), ("lengths", "ratios", *MIX), plan_mix, make_mix),
    Stage("loft", "mix LOFT-style", 1, ("gold",), ("loft", *MIX), plan_loft, make_loft),
    Stage("write", "write", 2, ("mix", "loft"), ("rows_per_file",), plan_write, make_write),
]  # fmt: skip


def run_build(recipe: Recipe, base: Path, out: Path, work: Path, workers: int, console: Console) -> Build:
    """Builds a recipe into the folder `out`, which appears whole by one rename, and returns the finished build.

    The work folder's `seconds.json` says how long each stage of this run took.
    """
    checked_folder(work, "work folder")
    checked_folder(out.parent, "output folder's parent")
    with only_one(work):
        build = prepare(recipe, base, work, workers)
        _run_stages(build, workers, console)
        assemble(build, out, input_digests(build))
    return build


def _run_stages(build: Build, workers: int, console: Console) -> None:
    pool = Pool(workers)
    seconds: dict[str, float] = {}
    try:
        with progress_bars(console) as progress:
            for stage in STAGES:
                seconds[stage.name] = run_stage(stage, build, pool, progress)
    finally:
        pool.close()
        rounded = {name: round(spent, 1) for name, spent in seconds.items()}
        write_json(build.work / "seconds.json", rounded, sort_keys=False)


def prepare(recipe: Recipe, base: Path, work: Path, workers: int = 1) -> Build:
    """The build with the digest of every stage, each bound to all that the stage depends on."""
    check_names(recipe)
    build = Build(recipe, recipe.base(base), work, {}, workers)
    inputs = input_digests(build)
    values = recipe.portable()
    identities: dict[str, Any] = {"tokenizer": token_counter(recipe.tokenizer).sha256}
    if not recipe.runs:
        identities["retrievers"] = {n: RETRIEVERS[s.kind]().identity(s) for n, s in recipe.retrievers.items()}
    for stage in STAGES:
        build.digests[stage.name] = digest_of(
            {
                "stage": stage.name,
                "code": stage.code,
                "after": [build.digests[name] for name in stage.after],
                "settings": {name: values[name] for name in stage.settings},
                "inputs": {name: inputs[name] for name in inputs if name.split(".")[0] in stage.settings},
                "identities": {name: value for name, value in identities.items() if name in stage.settings},
            }
        )
    return build


def check_names(recipe: Recipe) -> None:
    """SetupError where a recipe names a reader or a kind of retriever that is not there, before any work is done."""
    places: dict[str, tuple[str, Mapping[str, object]]] = {"knowledge.reader": (recipe.knowledge.reader, PAGE_READERS)}
    for task_name, task in recipe.tasks.items():
        for file, source in task.files.items():
            places[f"tasks.{task_name}.files.{file}.reader"] = (source.reader, QUESTION_READERS)
    for name, spec in recipe.retrievers.items():
        places[f"retrievers.{name}.kind"] = (spec.kind, RETRIEVERS)
    for place, (value, known) in places.items():
        if value not in known:
            raise SetupError(f"{place} {value!r} is unknown; there are {', '.join(known)}")


def sources_of(recipe: Recipe) -> dict[str, Source]:
    """Every source by its place in the recipe."""
    sources = {"knowledge": recipe.knowledge}
    for name, task in recipe.tasks.items():
        sources |= {f"tasks.{name}.{file}": source for file, source in task.files.items()}
    return sources


def input_digests(build: Build) -> dict[str, str]:
    """sha256 of every input file, by its place in the recipe: `knowledge`, `tasks.nq.dev`, `runs.bm25`."""
    recipe = build.recipe
    paths = {place: fetch(source, build.base, build.cache) for place, source in sources_of(recipe).items()}
    if recipe.runs:
        paths |= {f"runs.{path.stem}": path for path in sorted((build.base / recipe.runs).glob("*.parquet"))}
    return {place: digest_of_file(path, build.cache) for place, path in paths.items()}
