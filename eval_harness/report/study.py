"""Combines runs: the results on one dataset, by setting."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from builders.errors import SetupError
from eval_harness.report.listing import is_listed
from eval_harness.report.table import headline_name
from eval_harness.run.facts import ConfigFacts, configs_of, in_order
from eval_harness.run.record_file import read_record
from eval_harness.run.results import Row, stream_rows
from eval_harness.scoring.base import Scorer
from eval_harness.scoring.registry import scorer_of

# The selection of a run: runs that differ only in these are combined.
SELECTION = frozenset(("dataset", "configs", "methods", "tasks", "limit", "planned", "shard", "protocol"))
# Settings of some methods; null in runs of other methods, which counts as equal.
OF_METHODS = frozenset(("encoder", "retrieval", "evidence_tokens", "citing_version", "probed"))
_RESULTS = "results.jsonl"


class Study(NamedTuple):
    """Runs on one dataset.

    `rows` and `settings` are by model label: the model's name, with a number if runs of one name differ in their
    settings. `differing` lists these differences, `runs` the folders of each label, `facts` describes each config.
    `planned` says how many results the runs of a label planned for a config and method, if they say so.
    """

    name: str
    version: str
    manifest_sha256: str
    rows: dict[str, list[Row]]
    settings: dict[str, dict[str, Any]]
    differing: dict[str, dict[str, Any]]
    runs: dict[str, list[str]]
    methods: list[str]
    facts: dict[str, ConfigFacts]
    planned: Mapping[str, dict[tuple[str, str], int]] = {}

    @property
    def title(self) -> str:
        """The dataset's name and version."""
        return f"{self.name} {self.version}"

    @property
    def configs(self) -> list[str]:
        """Every config with results."""
        return in_order((row.config for row in self.all_rows), self.facts)

    @property
    def tasks(self) -> list[str]:
        """Every task with results."""
        return sorted({row.task for row in self.all_rows})

    @property
    def scorers(self) -> dict[str, Scorer]:
        """The scorer of every task."""
        return {row.task: scorer_of(row.spec) for row in self.all_rows}

    @property
    def headlines(self) -> dict[str, str]:
        """The headline metric of every task."""
        return {row.task: headline_name(row) for row in self.all_rows}

    @property
    def strict_headlines(self) -> dict[str, str]:
        """The tasks whose headline is the strict metric, because the official one cannot work in their language."""
        scorers = self.scorers
        return {task: name for task, name in self.headlines.items() if name != scorers[task].headline}

    @property
    def all_rows(self) -> Iterator[Row]:
        """The results of all labels."""
        return (row for rows in self.rows.values() for row in rows)


class _Run(NamedTuple):
    folder: Path
    record: dict[str, Any]
    rows: list[Row]

    @property
    def settings(self) -> dict[str, Any]:
        return {key: value for key, value in self.record.items() if key not in SELECTION}

    @property
    def model(self) -> str:
        return str(self.record["model"]["name"])


def read_studies(
    folders: Sequence[Path], *, listed: bool = False, advance: Callable[[], object] = lambda: None
) -> list[Study]:
    """One study per dataset of the runs in `folders`; SetupError for a folder without a readable run.

    With `listed`, results that a page does not list have no output and no log, so that large runs fit into memory.
    `advance` is called for every result.
    """
    by_dataset: dict[str, list[_Run]] = {}
    for folder in dict.fromkeys(folders):
        run = _read(folder, listed, advance)
        by_dataset.setdefault(run.record["dataset"]["manifest_sha256"], []).append(run)
    return [_study(runs) for runs in by_dataset.values()]


def one_study(studies: Sequence[Study]) -> Study:
    """The only study; SetupError for runs of several datasets, whose scores are not comparable."""
    if len(studies) == 1:
        return studies[0]
    named = {f"{study.title} ({study.manifest_sha256[:12]})": study.runs.values() for study in studies}
    found = "; ".join(
        f"{title}: {', '.join(run for runs in groups for run in runs)}" for title, groups in named.items()
    )
    raise SetupError(
        f"the runs are of {len(studies)} datasets, whose scores cannot be compared: {found}; "
        "give runs of one dataset, or --apart for a separate report on each"
    )


def n_results(folder: Path) -> int:
    """How many results a run has; 0 for a folder without a run."""
    path = folder / _RESULTS
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _read(folder: Path, listed: bool, advance: Callable[[], object]) -> _Run:
    for name in ("run.json", _RESULTS):
        if not (folder / name).is_file():
            raise SetupError(
                f"{folder} has no {name}, so it is not a run; create one with: icr2 eval DIR --out {folder}"
            )
    record, rows = read_record(folder), _rows(folder, listed, advance)
    if unknown := sorted({row.config for row in rows} - set(record["configs"])):
        raise SetupError(f"{folder / 'run.json'} does not describe {', '.join(unknown)}; rerun it")
    if not rows:
        raise SetupError(f"{folder} has no results yet; rerun the command to resume")
    return _Run(folder, record, rows)


def _rows(folder: Path, listed: bool, advance: Callable[[], object]) -> list[Row]:
    """The results of a run; with `listed`, those of a large one that no page lists lose their texts."""
    n, rows = n_results(folder), []
    for row in stream_rows(folder / _RESULTS):
        shown = not listed or is_listed(row.id, n)
        rows.append(row if shown else replace(row, output=None, steps_log=None))
        advance()
    return rows


def _study(runs: Sequence[_Run]) -> Study:
    groups: list[list[_Run]] = []
    for run in runs:
        fitting = (group for group in groups if not any(_conflicts(run.settings, other.settings) for other in group))
        if group := next(fitting, None):
            group.append(run)
        else:
            groups.append([run])
    labelled = dict(_labelled(groups))
    settings = {label: group[0].settings for label, group in labelled.items()}
    dataset = runs[0].record["dataset"]
    methods = [method for run in runs for method in run.record.get("methods", ())]
    return Study(
        str(dataset["name"]),
        str(dataset["version"]),
        str(dataset["manifest_sha256"]),
        {label: _merged(label, group) for label, group in labelled.items()},
        settings,
        _differing(labelled, settings),
        {label: [run.folder.name for run in group] for label, group in labelled.items()},
        list(dict.fromkeys([*methods, *(row.method for run in runs for row in run.rows)])),
        {name: facts for run in runs for name, facts in configs_of(run.record).items()},
        {label: _planned(group) for label, group in labelled.items()},
    )


def _planned(group: Sequence[_Run]) -> dict[tuple[str, str], int]:
    """The results that runs planned, by config and method: shards add up, and equal runs count once."""
    parts: dict[tuple[str, str], dict[tuple[Any, ...], int]] = {}
    for run in group:
        shard = tuple(run.record.get("shard") or (1, 1))
        for config, n in run.record.get("planned", {}).items():
            for method in run.record.get("methods", ()):
                mine = parts.setdefault((config, method), {})
                mine[shard] = max(n, mine.get(shard, 0))
    return {key: sum(of_shards.values()) for key, of_shards in parts.items()}


def _conflicts(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Dotted names of the settings that differ between two runs."""
    flat, others = dict(_flat(one)), dict(_flat(other))
    return [
        name
        for name in sorted(flat.keys() | others.keys())
        if (values := (flat.get(name), others.get(name)))[0] != values[1]
        and not (name.partition(".")[0] in OF_METHODS and None in values)
    ]


def _labelled(groups: Sequence[list[_Run]]) -> Iterator[tuple[str, list[_Run]]]:
    """Each group with its model's name, numbered if several groups share it."""
    names = [group[0].model for group in groups]
    for place, (name, group) in enumerate(zip(names, groups, strict=True)):
        alone = names.count(name) == 1
        yield (name if alone else f"{name} #{names[: place + 1].count(name)}"), group


def _merged(label: str, group: Sequence[_Run]) -> list[Row]:
    """The unique results of runs with equal settings; SetupError if two runs answer a prompt differently."""
    rows: dict[tuple[str, str, str], Row] = {}
    for run in group:
        for row in run.rows:
            first = rows.setdefault(row.key, row)
            if _answer(first) == _answer(row) or row.status == "error":
                continue
            if first.status != "error":
                raise SetupError(
                    f"{run.folder} and another run of {label} with the same settings differ on {row.id} ({row.config}, "
                    f"{row.method}); give only one of them"
                )
            rows[row.key] = row
    return sorted(rows.values(), key=lambda row: row.id)


def _answer(row: Row) -> Row:
    """The result without the fields that depend on time and batch."""
    return replace(row, latency_s=None, n_cached_tokens=None)


def _differing(labelled: dict[str, list[_Run]], settings: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The settings that distinguish labels of one model name: dotted names with each label's value."""
    found: dict[str, dict[str, Any]] = {}
    for label, group in labelled.items():
        peers = [settings[other] for other, runs in labelled.items() if runs[0].model == group[0].model]
        names = sorted({name for peer in peers for name in _conflicts(settings[label], peer)})
        found[label] = {name: dict(_flat(settings[label])).get(name) for name in names}
    return found


def _flat(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else key)
    else:
        yield name, value
