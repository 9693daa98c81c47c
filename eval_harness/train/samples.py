"""Selects training instances and encodes them once, into a file that every process maps into memory."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from builders.errors import SetupError
from builders.seeds import order_key
from eval_harness.data.dataset import Dataset, Instance, names, scan
from eval_harness.train.encode import Encoded, Encoder

Counts = dict[str, dict[str, int]]  # by task: `used`, `shortened` (among `used`), and skipped instances by reason
Wanted = Mapping[str, int]  # instances by task, "" for every other task

_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("task", pa.string()),
        ("ids", pa.list_(pa.int32())),
        ("n_prompt", pa.int32()),
        ("n_removed", pa.int32()),
    ]
)
_BATCH_ROWS = 64


class Part(NamedTuple):
    """The instances to take from one split: the wanted number of each task from each config."""

    dataset: Dataset
    configs: Sequence[str]
    split: str
    wanted: Wanted

    def chosen(self, seed: str) -> dict[str, set[str]]:
        """Ids by config: the first of each task in a random order, the same in every config."""
        found = {config: choose(names(self.dataset, config, self.split), self.wanted, seed) for config in self.configs}
        if not any(found.values()):
            tasks = ", ".join(sorted({task for _, task in names(self.dataset, self.configs[0], self.split)}))
            raise SetupError(f"--samples selects no instance of {self.split}; available tasks: {tasks}")
        return found

    def instances(self, chosen: Mapping[str, set[str]]) -> Iterator[Instance]:
        """The selected instances, config by config."""
        for config in self.configs:
            yield from scan(self.dataset, config, self.split, chosen[config])


def choose(rows: Iterable[tuple[str, str]], wanted: Wanted, seed: str) -> set[str]:
    """The wanted number of ids of each task, in a random order of ids."""
    by_task: dict[str, list[str]] = {}
    for id, task in rows:
        by_task.setdefault(task, []).append(id)
    found: set[str] = set()
    for task, ids in by_task.items():
        ids.sort(key=lambda id: order_key(seed, "sample", id))
        found.update(ids[: wanted.get(task, wanted.get("", 0))])
    return found


def write_samples(
    path: Path, encoder: Encoder, instances: Iterable[Instance], advance: Callable[[], object] = lambda: None
) -> Counts:
    """Encodes instances into a file for `Samples`; SetupError if none can be used."""
    counts: dict[str, Counter[str]] = {}
    rows: list[Encoded] = []
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, _SCHEMA) as writer:
        for instance in instances:
            found = encoder.encode(instance)
            counted = counts.setdefault(instance.task, Counter())
            if isinstance(found, Encoded):
                counted += Counter(used=1, shortened=int(found.n_removed > 0))
                rows.append(found)
            else:
                counted[found] += 1
            if len(rows) == _BATCH_ROWS:
                writer.write_table(_table(rows))
                rows.clear()
            advance()
        writer.write_table(_table(rows))
    plain = {task: dict(sorted(counted.items())) for task, counted in sorted(counts.items())}
    if not any(counted.get("used") for counted in plain.values()):
        raise SetupError(
            f"all instances were skipped: {json.dumps(plain)}; raise --max-length, or choose another --config"
        )
    return plain


def described(counts: Counts) -> str:
    """The counts over all tasks, in words."""
    total = sum((Counter(counted) for counted in counts.values()), Counter())
    used, shortened = total.pop("used", 0), total.pop("shortened", 0)
    left_out = ", ".join(f"{n} {reason}" for reason, n in sorted(total.items()))
    return f"{used} samples, {shortened} of them shortened; skipped: {left_out or 'none'}"


class Samples:
    """Encoded instances in a file, read on demand."""

    def __init__(self, path: Path) -> None:
        self._table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, at: int) -> Encoded:
        (row,) = self._table.slice(at, 1).to_pylist()
        return Encoded(**row)


class Order:
    """The samples of a training in order: reshuffled in every epoch.

    The sample at a position depends only on the seed and the position, so that a training can resume anywhere.
    """

    def __init__(self, samples: Samples, seed: str, length: int) -> None:
        self._samples = samples
        self._seed = seed
        self._length = length
        self._shuffled = lru_cache(maxsize=2)(self._round)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: int) -> Encoded:
        number, place = divmod(at, len(self._samples))
        return self._samples[self._shuffled(number)[place]]

    def _round(self, number: int) -> list[int]:
        return sorted(range(len(self._samples)), key=lambda at: order_key(self._seed, "round", str(number), str(at)))


def _table(rows: Sequence[Encoded]) -> pa.Table:
    return pa.Table.from_pylist([row._asdict() for row in rows], _SCHEMA)
