"""The build: the stages of a recipe's pipeline in order, then one rename that puts the dataset in place.

`STAGES` are those of contexts from a knowledge source, in the order of the paper's section 3.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from builders.assemble import assemble, recipe_digest
from builders.config import AnyRecipe, Recipe, Source, digest_of
from builders.engine import Pipeline, Pool, Stage, progress_bars, run_stage
from builders.errors import SetupError
from builders.files import checked_folder, write_json
from builders.place import check_dataset, check_files, clear_leftovers, manifest_values, target_of
from builders.retrieve import RETRIEVERS
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.sources.fetch import check_urls, fetch_input
from builders.stages.candidates import make_filter, make_pool, plan_filter, plan_pool
from builders.stages.contexts import make_loft, make_mix, plan_loft, plan_mix
from builders.stages.files import make_write, plan_write
from builders.stages.pages import make_chunk, make_index, make_pages, plan_chunk, plan_index, plan_pages
from builders.stages.questions import make_gold, make_questions, plan_gold, plan_questions
from builders.stages.retrieval import make_retrieve, make_search_index, plan_retrieve, plan_search_index
from builders.synthetic import kind_of
from builders.synthetic.base import SyntheticRecipe
from builders.tokens import token_counter
from builders.work import Build, only_one

MIX = ("tokenizer", "seed", "reserve")

# name, label of the progress bar, code version, stages read, recipe fields read, plan, make, alone
STAGES = [
    Stage("pages", "read pages", 2, (), ("knowledge",), plan_pages, make_pages, alone=True, leaves_out=True),
    Stage("chunk", "chunk pages", 2, ("pages",), ("chunk_words",), plan_chunk, make_chunk),
    Stage("index", "index pages", 1, ("chunk",), (), plan_index, make_index),
    Stage("questions", "read questions", 5, ("index",), ("tasks", "seed", "limit"), plan_questions, make_questions,
          leaves_out=True),
    Stage("gold", "find gold passages", 4, ("questions",), ("tasks",), plan_gold, make_gold),
    Stage("search_index", "index for retrieval", 1, ("index",), ("retrievers", "runs"), plan_search_index,
          make_search_index, alone=True),
    Stage("retrieve", "retrieve", 1, ("gold", "search_index"), ("retrievers", "runs"), plan_retrieve, make_retrieve,
          alone=True),
    Stage("pool", "pool", 1, ("retrieve",), (), plan_pool, make_pool),
    Stage("filter", "filter", 6, ("pool",), ("seed", "lengths", "reserve", "ratios"), plan_filter, make_filter),
    Stage("mix", "mix", 5, ("filter",), ("lengths", "ratios", "passages", *MIX), plan_mix, make_mix, leaves_out=True),
    Stage("loft", "mix LOFT-style", 5, ("gold",), ("loft", *MIX), plan_loft, make_loft, leaves_out=True),
    Stage("write", "write", 2, ("mix", "loft"), ("rows_per_file",), plan_write, make_write),
]  # fmt: skip


def run_build(
    recipe: AnyRecipe, folder: Path, out: Path, work: Path, workers: int, console: Console, overwrite: bool = False
) -> Build[Any]:
    """Builds a recipe of the folder `folder` into the folder `out`, which is renamed into place.

    Returns the finished build. `seconds.json` in the work folder has the time of each stage of this run. SetupError
    before anything is built if `out` holds files that are not an earlier build of the recipe; `overwrite` allows
    another dataset there.
    """
    out = target_of(out)
    check_dataset(out, recipe.name, overwrite)
    checked_folder(work, "work folder")
    checked_folder(out.parent, "output folder's parent")
    with only_one(work):
        clear_leftovers(out)
        check_dataset(out, recipe.name, overwrite)  # that may have put one back
        build = prepare(recipe, folder, work, workers)
        if manifest_values(out).get("recipe_digest") != recipe_digest(build):  # else perhaps nothing will change
            check_files(out)
        _run_stages(pipeline_of(recipe).stages, build, workers, console)
        check_dataset(out, recipe.name, overwrite)  # another build may have put one there meanwhile
        return replace(build, unchanged=not assemble(build, out))


def _run_stages(stages: Sequence[Stage], build: Build[Any], workers: int, console: Console) -> None:
    pool = Pool(workers)
    seconds: dict[str, float] = {}
    try:
        with progress_bars(console) as progress:
            for stage in stages:
                seconds[stage.name] = run_stage(stage, build, pool, progress)
    except BaseException:
        pool.stop()
        raise
    finally:
        pool.close()
        rounded = {name: round(spent, 1) for name, spent in seconds.items()}
        write_json(build.work / "seconds.json", rounded, sort_keys=False)


def pipeline_of(recipe: AnyRecipe) -> Pipeline:
    """The pipeline that builds a recipe."""
    return kind_of(recipe.kind) if isinstance(recipe, SyntheticRecipe) else ICR2


def prepare(recipe: AnyRecipe, folder: Path, work: Path, workers: int = 1) -> Build[Any]:
    """The build with its input files and the digest of every stage, over everything that the stage depends on."""
    pipeline, base, cache = pipeline_of(recipe), recipe.base(folder), work / "cache"
    sources = pipeline.sources(recipe, base)
    check_urls(sources)
    inputs = {place: fetch_input(source, base, cache) for place, source in sources.items()}
    values = recipe.portable()
    identities = {"tokenizer": token_counter(recipe.tokenizer).sha256, **pipeline.identities(recipe)}
    digests: dict[str, str] = {}
    for stage in pipeline.stages:
        digests[stage.name] = digest_of(
            {
                "stage": stage.name,
                "code": stage.code,
                "after": [digests[name] for name in stage.after],
                "settings": {name: values[name] for name in stage.settings},
                "inputs": {place: inputs[place].sha256 for place in inputs if place.split(".")[0] in stage.settings},
                "identities": {name: value for name, value in identities.items() if name in stage.settings},
            }
        )
    return Build(recipe, base, work, digests, workers, inputs)


def sources_of(recipe: Recipe, base: Path) -> dict[str, Source]:
    """Every source by its place: `knowledge`, `tasks.nq.dev`, `runs.bm25`; SetupError where a name is unknown."""
    _check_names(recipe)
    sources = {"knowledge": recipe.knowledge}
    for name, task in recipe.tasks.items():
        sources |= {f"tasks.{name}.{file}": source for file, source in task.files.items()}
    if recipe.runs:
        for path in sorted((base / recipe.runs).glob("*.parquet")):
            sources[f"runs.{path.stem}"] = Source(reader="run", path=f"{recipe.runs}/{path.name}")
    return sources


def _check_names(recipe: Recipe) -> None:
    places: dict[str, tuple[str, Mapping[str, object]]] = {"knowledge.reader": (recipe.knowledge.reader, PAGE_READERS)}
    for task_name, task in recipe.tasks.items():
        for file, source in task.files.items():
            places[f"tasks.{task_name}.files.{file}.reader"] = (source.reader, QUESTION_READERS)
    for name, spec in recipe.retrievers.items():
        places[f"retrievers.{name}.kind"] = (spec.kind, RETRIEVERS)
    for place, (value, known) in places.items():
        if value not in known:
            raise SetupError(f"{place} {value!r} is unknown; there are {', '.join(known)}")


def identities_of(recipe: Recipe) -> dict[str, Any]:
    """What the scores of the retrievers depend on; nothing where finished runs replace them."""
    if recipe.runs:
        return {}
    return {"retrievers": {name: RETRIEVERS[spec.kind]().identity(spec) for name, spec in recipe.retrievers.items()}}


ICR2 = Pipeline(
    Recipe,
    STAGES,
    sources_of,
    "Contexts of gold, confounding and random Wikipedia passages for in-context retrieval and reasoning, built after\n"
    "[ICR²](https://arxiv.org/abs/2501.08248) and [LOFT](https://arxiv.org/abs/2406.13121).",
    identities_of,
)
