"""The dataset's Parquet files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.engine import Tick
from builders.errors import SetupError
from builders.files import read_table
from builders.schema import INSTANCES
from builders.stages.questions import split_of, task_of
from builders.work import Build, Counts


def plan_write(build: Build) -> list[str]:
    """One shard for each file of the dataset: `{config}--{split}-00000-of-00001.parquet`."""
    names = []
    for config in build.recipe.configs:
        for split, shards in _shards_by_split(build).items():
            files = len(_groups(build, shards))
            names += [f"{config}--{split}-{number:05d}-of-{files:05d}.parquet" for number in range(files)]
    return names


def make_write(build: Build, shard: str, out: Path, tick: Tick) -> Counts:
    """Writes one file, a row group for each shard of questions."""
    config, name = shard.split("--")
    split, number = name.split("-")[:2]
    groups = _groups(build, _shards_by_split(build)[split])
    rows = 0
    with instance_writer(out) as writer:
        for table in _tables(build, config, groups[int(number)]):
            rows += table.num_rows
            writer.write_table(table, row_group_size=table.num_rows)
    if not rows:
        raise SetupError(
            f"no instance of {config}, {split} fits: gold alone is longer; take {config} out of the recipe"
        )
    return {"rows": rows}


def instance_writer(out: Path) -> pq.ParquetWriter:
    """A writer of one Parquet file of the dataset."""
    return pq.ParquetWriter(
        out,
        INSTANCES,
        compression="zstd",
        use_content_defined_chunking=True,
        write_page_index=True,
        store_schema=True,
    )


def _shards_by_split(build: Build) -> dict[str, list[str]]:
    shards: dict[str, list[str]] = {}
    for shard in build.shards("gold"):
        shards.setdefault(split_of(shard), []).append(shard)
    return shards


def _groups(build: Build, shards: list[str]) -> list[list[str]]:
    """Question shards by file: a file takes shards while they hold at most `rows_per_file` questions."""
    groups: list[list[str]] = []
    held = 0
    for shard in shards:
        questions = read_table(build.path("gold", shard)).num_rows
        if not groups or held + questions > build.recipe.rows_per_file:
            groups.append([])
            held = 0
        groups[-1].append(shard)
        held += questions
    return groups


def _tables(build: Build, config: str, shards: list[str]) -> Iterator[pa.Table]:
    """The rows of a config, a table for each shard of questions that has any."""
    for shard in shards:
        targets = {target["id"]: target for target in read_table(build.path("gold", shard)).to_pylist()}
        plans = _plans(build, config, shard, targets)
        rows = [_row(build, targets[plan["id"]], plan) for plan in plans]
        if rows:
            yield pa.Table.from_pylist(rows, schema=INSTANCES)


def _plans(build: Build, config: str, shard: str, targets: dict[str, Any]) -> list[dict]:
    stage, path = "mix", shard
    about = build.recipe.configs[config]
    if about.family == "loft":
        stage, path = "loft", f"{task_of(shard)}-{split_of(shard)}-{about.length}"
    table = read_table(build.path(stage, path))
    mine = pa.compute.and_(
        pa.compute.equal(table["config"], config), pa.compute.is_in(table["id"], pa.array(list(targets), pa.string()))
    )
    plans = {plan["id"]: plan for plan in table.filter(mine).to_pylist()}
    return [plans[id] for id in targets if id in plans]


def _row(build: Build, target: dict, plan: dict) -> dict:
    passages = []
    for planned in plan["passages"]:
        passage = build.corpus.passage(planned["row"])
        found = {name: planned[name] for name in ("role", "retrievers", "rank", "score")}
        passages.append({"pid": passage.pid, "title": passage.title, "text": passage.text, **found})
    asked = ("id", "task", "query", "answers", "answer_kind", "hops", "reasoning_types")
    mixed = ("config", "context_id", "n_tokens", "confounding_ratio", "flags")
    return {
        **{name: target[name] for name in asked},
        **{name: plan[name] for name in mixed},
        "question_id": target["id"],
        "kind": build.recipe.spec(target["task"]).kind,
        "passages": passages,
        "gold": [at for at, passage in enumerate(passages) if passage["role"] == "gold"],
    }
