"""Reads the published dataset folder: manifest and Parquet, nothing of the builder's insides."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.prompts import Prompt, render
from builders.schema import Role
from builders.tasks import TaskSpec

_COLUMNS = ["id", "context_id", "task", "query", "answers", "passages", "gold"]
_FILE = re.compile(r"(?P<split>.+)-\d+-of-(?P<files>\d+)\.parquet")
_BATCH_ROWS = 16  # rows of the longest configs hold megabytes each


class Passage(NamedTuple):
    """A passage of an instance's context."""

    pid: str
    title: str
    text: str
    role: Role


class Instance(NamedTuple):
    """One row of a config; `gold` holds positions in `passages`, instances with one `context_id` share them all.

    `question_id` is the same in every row that asks the question, and `depth` where the config sets the place of gold,
    in percent of the context.
    """

    id: str
    spec: TaskSpec
    query: str
    answers: list[str]
    passages: list[Passage]
    gold: list[int]
    context_id: str = ""
    config: str = ""
    question_id: str = ""
    depth: int | None = None
    hops: int = 0
    reasoning_types: Sequence[str] = ()
    flags: Sequence[str] = ()

    @property
    def task(self) -> str:
        """The name of its task."""
        return self.spec.name

    @property
    def gold_pids(self) -> list[str]:
        """The gold passages, in their order in the context."""
        return [self.passages[position].pid for position in sorted(self.gold)]


def prompt_over(instance: Instance, passages: Sequence[Passage], cites: bool = False) -> Prompt:
    """The prompt for an instance's query over passages; with `cites`, it asks for their numbers too."""
    return render(instance.spec, instance.query, [(passage.title, passage.text) for passage in passages], cites)


class Dataset(NamedTuple):
    """A dataset folder, known by its name, its version and the digest of its manifest."""

    folder: Path
    name: str
    version: str
    manifest_sha256: str


def open_dataset(folder: Path) -> Dataset:
    """The dataset in `folder`; SetupError where no readable manifest is."""
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        raise SetupError(f"{folder} holds no manifest.json, so it is no dataset; build one with: icr2 build")
    content = manifest.read_bytes()
    try:
        fields = json.loads(content)
        name, version = str(fields["name"]), str(fields["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"{manifest} is no manifest with name and version ({error!r}); build the dataset anew"
        ) from None
    return Dataset(folder, name, version, sha256(content).hexdigest())


def load_instances(
    dataset: Dataset, config: str, split: str, tasks: Sequence[str] = (), limit: int | None = None
) -> list[Instance]:
    """The instances of a config's split in file order: those of `tasks` (all when empty), the first `limit` of each.

    SetupError names what there is where the config, the split, a task or a column is missing.
    """
    taken: Counter[str] = Counter()
    instances: dict[str, Instance] = {}
    for path in _files(dataset, config, split):
        for row in _rows(path):
            taken[row["task"]] += 1
            if (tasks and row["task"] not in tasks) or (limit is not None and taken[row["task"]] > limit):
                continue
            if row["id"] in instances:
                raise SetupError(f"{path} holds id {row['id']!r} a second time; check it with: icr2 validate")
            instances[row["id"]] = _instance(row)
    if unknown := set(tasks) - set(taken):
        raise SetupError(f"{config}/{split} has no task {_listed(unknown)}; there are {_listed(taken)}")
    if not instances:
        raise SetupError(f"{config}/{split} of {dataset.folder} has no rows; check it with: icr2 validate")
    return list(instances.values())


def names(dataset: Dataset, config: str, split: str) -> Iterator[tuple[str, str]]:
    """Id and task of each instance of a config's split, in file order, without reading its passages."""
    for path in _files(dataset, config, split):
        for row in _rows(path, ["id", "task"]):
            yield row["id"], row["task"]


def scan(dataset: Dataset, config: str, split: str, ids: Collection[str]) -> Iterator[Instance]:
    """The instances of a config's split that have one of the ids, in file order, one at a time."""
    for path in _files(dataset, config, split):
        yield from (_instance(row) for row in _rows(path) if row["id"] in ids)


def find_instance(dataset: Dataset, config: str, split: str, id: str) -> Instance:
    """The instance with an id; SetupError where the config's split has none."""
    for path in _files(dataset, config, split):
        for row in _rows(path):
            if row["id"] == id:
                return _instance(row)
    raise SetupError(f"{config}/{split} has no instance {id!r}; list ids with: icr2 sql")


def tokenizer_name(dataset: Dataset) -> str:
    """The tokenizer that the dataset was measured with; SetupError where its manifest names none."""
    manifest = json.loads((dataset.folder / "manifest.json").read_text(encoding="utf-8"))
    name = (manifest.get("tokenizer") or {}).get("name")
    if not name:
        raise SetupError(f"the manifest of {dataset.folder} names no tokenizer; name one with --tokenizer")
    return str(name)


def shard(instances: Sequence[Instance], number: int, of: int) -> list[Instance]:
    """Part `number` (from 1) of `of` parts: contexts are dealt in turn, each with all its instances."""
    turns = {context: turn for turn, context in enumerate(dict.fromkeys(one.context_id for one in instances))}
    return [one for one in instances if turns[one.context_id] % of == number - 1]


def check_parts(dataset: Dataset, configs: Sequence[str], split: str) -> None:
    """Raises SetupError unless every config has the split in readable files, before any time is spent on one."""
    for config in configs:
        for path in _files(dataset, config, split):
            with _opened(path):
                pass


def _files(dataset: Dataset, config: str, split: str) -> list[Path]:
    """A split's files in order; SetupError where some or all are missing."""
    configs = {path.parent.name for path in dataset.folder.glob("*/*.parquet")}
    if config not in configs:
        raise SetupError(f"{dataset.folder} has no config {config!r}; there are {_listed(configs)}")
    folder = dataset.folder / config
    named = [found for path in sorted(folder.iterdir()) if (found := _FILE.fullmatch(path.name))]
    mine = [found for found in named if found["split"] == split]
    if not mine:
        splits = {found["split"] for found in named}
        raise SetupError(f"{folder} has no split {split!r}; there are {_listed(splits)}")
    if len(mine) != (wanted := int(mine[0]["files"])):
        raise SetupError(
            f"{folder} holds {len(mine)} of the {wanted} files of {split}; fetch or build the dataset anew"
        )
    return [folder / found[0] for found in mine]


def _rows(path: Path, columns: list[str] = _COLUMNS) -> Iterator[dict[str, Any]]:
    with _opened(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
            yield from batch.to_pylist()


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A Parquet file with the columns of instances; SetupError where it has not, or cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if missing := set(_COLUMNS) - set(file.schema_arrow.names):
                raise SetupError(f"{path} lacks the columns {_listed(missing)}; check it with: icr2 validate")
            yield file
    except (pa.ArrowException, OSError) as error:  # Arrow tells of a broken page by OSError
        reason = str(error).splitlines()[0]
        raise SetupError(f"{path} is no readable Parquet file: {reason}; check it with: icr2 validate") from None


def _instance(row: dict[str, Any]) -> Instance:
    passages = [Passage(p["pid"], p["title"], p["text"], p["role"]) for p in row["passages"] or []]
    answers, gold = row["answers"] or [], row["gold"] or []
    spec = spec_of(row["task"])
    return Instance(row["id"], spec, row["query"], answers, passages, gold, row["context_id"] or row["id"])


def _listed(names: Sequence[str] | set[str] | Counter[str]) -> str:
    return ", ".join(sorted(names)) or "none"
