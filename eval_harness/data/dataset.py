"""Reads a published dataset folder: its manifest and Parquet files."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from builders.errors import SetupError
from builders.format1 import row_of
from builders.manifest import Manifest, read_manifest
from builders.prompts import Prompt, render
from builders.schema import Role
from builders.tasks import TaskSpec

_COLUMNS = "id context_id task query answers passages gold hops reasoning_types flags".split()
_OF_FORMAT_2 = "config question_id depth".split()
T = TypeVar("T")
_BATCH_ROWS = 16  # rows of the longest configs are megabytes each


class Passage(NamedTuple):
    """A passage of an instance's context."""

    pid: str
    title: str
    text: str
    role: Role


class Instance(NamedTuple):
    """One row of a config; `gold` are positions in `passages`; instances with the same `context_id` share all passages.

    `question_id` is the same in every row that asks the question; `depth`, if the config sets it, is the position of
    the gold in percent of the context.
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
    """The prompt for an instance's query over passages; with `cites`, it also asks for passage numbers."""
    return render(instance.spec, instance.query, [(passage.title, passage.text) for passage in passages], cites)


class Dataset(NamedTuple):
    """A dataset folder with its manifest."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """Its name."""
        return self.manifest.name

    @property
    def version(self) -> str:
        """Its version."""
        return self.manifest.version

    @property
    def manifest_sha256(self) -> str:
        """The sha256 of its manifest, which pins every file."""
        return self.manifest.sha256

    def describe(self) -> dict[str, str]:
        """Name, version and digest, for records."""
        return {"name": self.name, "version": self.version, "manifest_sha256": self.manifest_sha256}


def open_dataset(folder: Path) -> Dataset:
    """The dataset in `folder`; SetupError without a readable manifest."""
    return Dataset(folder, read_manifest(folder))


def load_instances(
    dataset: Dataset, config: str, split: str, tasks: Sequence[str] = (), limit: int | None = None
) -> list[Instance]:
    """The instances of a config's split in file order: the first `limit` of each of the `tasks` (empty: all).

    SetupError lists what is available if the config, the split, a task or a column is missing.
    """
    return _chosen(dataset, config, split, tasks, limit, lambda row: _instance(dataset, config, row))


def count_instances(
    dataset: Dataset, config: str, split: str, tasks: Sequence[str], limit: int | None, part: tuple[int, int]
) -> int:
    """How many instances a part (i of n) of `load_instances` has, without reading passages; the same errors."""
    columns = ("id", "task", "context_id")
    contexts = _chosen(dataset, config, split, tasks, limit, lambda row: row["context_id"] or row["id"], columns)
    return sum(_in_part(contexts, *part))


def _chosen(
    dataset: Dataset,
    config: str,
    split: str,
    tasks: Sequence[str],
    limit: int | None,
    make: Callable[[dict[str, Any]], T],
    columns: Sequence[str] = (),
) -> list[T]:
    """What `make` makes of the rows of a split that are chosen, in file order."""
    taken: Counter[str] = Counter()
    made: dict[str, T] = {}
    for row in _rows(dataset, config, split, columns):
        taken[row["task"]] += 1
        if (tasks and row["task"] not in tasks) or (limit is not None and taken[row["task"]] > limit):
            continue
        if row["id"] in made:
            raise SetupError(f"{config}/{split} has the id {row['id']!r} twice; check it with: icr2 validate")
        made[row["id"]] = make(row)
    if unknown := set(tasks) - set(taken):
        raise SetupError(f"{config}/{split} has no task {_listed(unknown)}; available: {_listed(taken)}")
    if not made:
        raise SetupError(f"{config}/{split} of {dataset.folder} has no rows; check it with: icr2 validate")
    return list(made.values())


def names(dataset: Dataset, config: str, split: str) -> Iterator[tuple[str, str]]:
    """Id and task of each instance of a config's split, in file order, without reading its passages."""
    for row in _rows(dataset, config, split, ["id", "task"]):
        yield row["id"], row["task"]


def scan(dataset: Dataset, config: str, split: str, ids: Collection[str]) -> Iterator[Instance]:
    """Yields the instances of a config's split that have one of the ids, in file order."""
    yield from (_instance(dataset, config, row) for row in _rows(dataset, config, split) if row["id"] in ids)


def find_instance(dataset: Dataset, config: str, split: str, id: str) -> Instance:
    """The instance with this id; SetupError if the config's split has none."""
    for instance in scan(dataset, config, split, {id}):
        return instance
    raise SetupError(f"{config}/{split} has no instance {id!r}; list ids with: icr2 sql")


def shard(instances: Sequence[Instance], number: int, of: int) -> list[Instance]:
    """Part `number` (from 1) of `of` parts: contexts are dealt round robin, each with all its instances."""
    mine = _in_part([one.context_id for one in instances], number, of)
    return [one for one, is_mine in zip(instances, mine, strict=True) if is_mine]


def _in_part(contexts: Sequence[str], number: int, of: int) -> list[bool]:
    turns = {context: turn for turn, context in enumerate(dict.fromkeys(contexts))}
    return [turns[context] % of == number - 1 for context in contexts]


def check_parts(dataset: Dataset, configs: Sequence[str], split: str) -> None:
    """Raises SetupError unless every config has the split in readable files; run before any long work."""
    for config in configs:
        for path in _files(dataset, config, split):
            with _opened(path, _columns(dataset)):
                pass


def _files(dataset: Dataset, config: str, split: str) -> list[Path]:
    """A split's files in order; SetupError if there are none, or some are missing."""
    files = {str(name): files for name, files in dataset.manifest.config(config).files.items()}
    if split not in files:
        raise SetupError(f"{config} of {dataset.folder} has no split {split!r}; available: {_listed(files)}")
    paths = [dataset.manifest.path_of(dataset.folder, file) for file in files[split]]
    there = [path for path in paths if path.is_file()]
    if len(there) < len(paths):
        raise SetupError(
            f"{dataset.folder} has {len(there)} of the {len(paths)} files of {config}/{split}; download or build the "
            "dataset again"
        )
    return paths


def _columns(dataset: Dataset) -> list[str]:
    return [*_COLUMNS, *([] if dataset.manifest.is_format_1 else _OF_FORMAT_2)]


def _rows(dataset: Dataset, config: str, split: str, columns: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a split in file order, with the given columns, by default all that instances need."""
    wanted = _columns(dataset)
    for path in _files(dataset, config, split):
        with _opened(path, wanted) as file:
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(columns or wanted)):
                yield from batch.to_pylist()


@contextmanager
def _opened(path: Path, wanted: Sequence[str]) -> Iterator[Any]:
    """A Parquet file with the wanted columns; SetupError if it lacks one or cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if missing := set(wanted) - set(file.schema_arrow.names):
                raise SetupError(f"{path} lacks the columns {_listed(missing)}; check it with: icr2 validate")
            yield file
    except (pa.ArrowException, OSError) as error:  # Arrow raises OSError for a broken page
        reason = str(error).splitlines()[0]
        raise SetupError(f"{path} is not a readable Parquet file: {reason}; check it with: icr2 validate") from None


def _instance(dataset: Dataset, config: str, row: dict[str, Any]) -> Instance:
    manifest = dataset.manifest
    spec = manifest.task(row["task"])
    if manifest.is_format_1:
        row = row_of(row, config, manifest.config(config).family, spec)
    return Instance(
        row["id"],
        spec,
        row["query"],
        row["answers"] or [],
        [Passage(p["pid"], p["title"], p["text"], p["role"]) for p in row["passages"] or []],
        row["gold"] or [],
        row["context_id"] or row["id"],
        row["config"] or config,
        row["question_id"] or row["id"],
        row["depth"],
        row["hops"] or 0,
        row["reasoning_types"] or (),
        row["flags"] or (),
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
