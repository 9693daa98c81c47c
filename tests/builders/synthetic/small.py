"""Small synthetic datasets, and a file in HotpotQA's layout to make one from."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import Progress

from builders.config import Source
from builders.engine import Pool, run_stage
from builders.load_recipe import load_recipe
from builders.pipeline import run_build
from builders.synthetic import KINDS
from builders.synthetic.base import SyntheticRecipe, SyntheticRow
from builders.work import Build, Input

WORDS = (
    "amber brook cedar delta ember field grove heath inlet jetty knoll lagoon meadow night orchard pier quarry".split()
)


def sentence(n: int) -> str:
    """A sentence of its own for every number."""
    return " ".join(WORDS[(n * 7 + step * (n % 5 + 1)) % len(WORDS)] + str(n * step) for step in range(1, 12)) + "."


def question(n: int, **changes: Any) -> dict[str, Any]:
    """Question n over ten paragraphs `Tn.0` ... `Tn.9`, of which 2 and 5 are gold; the answer is in 5."""
    context = [[f"T{n}.{at}", [sentence(10 * n + at), f" More {n * 100 + at}."]] for at in range(10)]
    context[5][1][1] = f" The answer is zq{n}x."
    facts = [[f"T{n}.2", 0], [f"T{n}.5", 1]]
    row = {"_id": f"q{n}", "question": f"What {n}?", "answer": f"zq{n}x", "type": "bridge", "level": "hard"}
    return {**row, "context": context, "supporting_facts": facts, **changes}


def write_hotpot(folder: Path, questions: list[dict[str, Any]]) -> Path:
    path = folder / "hotpot_dev_distractor_v1.json"
    path.write_text(json.dumps(questions))
    return path


def build(folder: Path, recipe: str, *settings: str, out: str = "out") -> Path:
    """Builds a bundled recipe with settings changed; returns the dataset's folder."""
    loaded, base = load_recipe(recipe, [f"data={folder}", *settings])
    run_build(loaded, base, folder / out, folder / f"{out}.work", 1, Console(quiet=True))
    return folder / out


def made_rows(recipe: SyntheticRecipe, paths: Mapping[str, Path]) -> tuple[list[SyntheticRow], Counter[str]]:
    """The rows of a recipe, those of a config and split in their order, and the counts of all stages that make them."""
    stages = KINDS[recipe.kind].stages[:-1]
    inputs = {place: Input(Source(reader="any", path=str(path)), path, "") for place, path in paths.items()}
    counts: Counter[str] = Counter()
    rows = []
    with TemporaryDirectory() as work:
        build = Build(recipe, Path(work), Path(work), {stage.name: stage.name for stage in stages}, inputs=inputs)
        for stage in stages:
            run_stage(stage, build, Pool(1), Progress(disable=True))
            counts.update(build.counts(stage.name))
        for shard in build.paths("rows"):
            for path in sorted(shard.glob("*.parquet")):
                config, split = path.stem.split("--")
                rows += [SyntheticRow(config, split, row) for row in pq.read_table(path).to_pylist()]
    return rows, counts


def build_controlled(folder: Path, *settings: str, out: str = "controlled") -> Path:
    """Three test questions and one for validation of either number of hops, at four depths and two lengths."""
    small = ("lengths=[1k, 2k]", "take={test: 3, validation: 1}", "depths=[0, 30, 60, 100]", "world=60")
    return build(folder, "controlled", *small, *settings, out=out)


def build_given(folder: Path, questions: list[dict[str, Any]], *settings: str, out: str = "given") -> Path:
    """Questions in HotpotQA's layout over the paragraphs that come with them, and at 2k."""
    write_hotpot(folder, questions)
    files = f"tasks.hotpotqa.files.dev.rows={len(questions)}"
    take = "tasks.hotpotqa.take={test: {source: dev, n: 100}}"
    return build(folder, "given_hotpotqa", files, take, "lengths=[2k]", *settings, out=out)
