"""The dataset's Parquet files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.engine import Tick
from builders.errors import SetupError
from builders.files import read_table
from builders.schema import INSTANCES, Plan, Question, Split
from builders.stages.contexts import plans_of
from builders.stages.questions import targets_of
from builders.work import Build, Counts, Shard


def plan_write(build: Build) -> list[Shard]:
    """One shard for each file of the dataset: `{config}--{split}-00000-of-00001.parquet`."""
    files = {split: len(_groups(build, shards)) for split, shards in _shards_by_split(build).items()}
    return [
        shard for config in build.recipe.configs for split, n in files.items() for shard in files_of(config, split, n)
    ]


def files_of(config: str, split: Split, n: int) -> list[Shard]:
    """The `n` files of a split of a config."""
    names = [f"{config}--{file_name(split, part, n)}" for part in range(n)]
    return [Shard(name, split=split, config=config, part=part, parts=n) for part, name in enumerate(names)]


def file_name(split: Split, part: int, parts: int) -> str:
    """The name of a file in the folder of its config."""
    return f"{split}-{part:05d}-of-{parts:05d}.parquet"


def make_write(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes one file, a row group for each shard of questions."""
    config, split = shard.config, cast(Split, shard.split)
    groups = _groups(build, _shards_by_split(build)[split])
    rows = 0
    with instance_writer(out) as writer:
        for table in _tables(build, config, groups[shard.part]):
            rows += table.num_rows
            writer.write_table(table, row_group_size=table.num_rows)
    if not rows:
        raise SetupError(
            f"no instance of {config}, {split} fits: gold alone exceeds the budget; remove {config} from the recipe"
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


def _shards_by_split(build: Build) -> dict[Split, list[Shard]]:
    shards: dict[Split, list[Shard]] = {}
    for shard in build.shards("gold"):
        shards.setdefault(cast(Split, shard.split), []).append(shard)
    return shards


def _groups(build: Build, shards: list[Shard]) -> list[list[Shard]]:
    """Question shards by file: a file takes shards up to `rows_per_file` questions."""
    groups: list[list[Shard]] = []
    held = 0
    for shard in shards:
        questions = read_table(build.path("gold", shard.name)).num_rows
        if not groups or held + questions > build.recipe.rows_per_file:
            groups.append([])
            held = 0
        groups[-1].append(shard)
        held += questions
    return groups


def _tables(build: Build, config: str, shards: list[Shard]) -> Iterator[pa.Table]:
    """The rows of a config, one table for each shard of questions with rows."""
    for shard in shards:
        targets = targets_of(read_table(build.path("gold", shard.name)))
        questions = {target.question.id: target.question for target in targets}
        rows = [_row(build, questions[plan.id], plan) for plan in _plans(build, config, shard, questions)]
        if rows:
            yield pa.Table.from_pylist(rows, schema=INSTANCES)


def _plans(build: Build, config: str, shard: Shard, questions: Mapping[str, Question]) -> list[Plan]:
    if build.recipe.configs[config].family == "loft":
        wanted = (config, shard.task, shard.split)
        mixed = next(one for one in build.shards("loft") if (one.config, one.task, one.split) == wanted)
        table = read_table(build.path("loft", mixed.name))
    else:
        table = read_table(build.path("mix", shard.name))
    mine = pc.and_(
        pc.equal(table["config"], config), pc.is_in(table["id"], value_set=pa.array(list(questions), pa.string()))
    )
    plans = {plan.id: plan for plan in plans_of(table.filter(mine))}
    return [plans[id] for id in questions if id in plans]


def _row(build: Build, question: Question, plan: Plan) -> dict[str, Any]:
    asked = ("id", "task", "query", "answers", "answer_kind", "hops", "reasoning_types")
    return {
        **{name: getattr(question, name) for name in asked},
        **plan._asdict(),
        "question_id": question.id,
        "kind": build.recipe.spec(question.task).kind,
        "passages": [build.corpus.at(found).in_row() for found in plan.passages],
        "gold": [at for at, found in enumerate(plan.passages) if found.role == "gold"],
    }
