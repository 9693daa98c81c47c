"""The statistics of a built dataset (including the paper's table 2), computed in DuckDB over its Parquet files.

Words are runs of characters without white space. Whole numbers are exact; all others are rounded to four decimals.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.errors import SetupError
from builders.figure import ROLES
from builders.manifest import File, Manifest, read_manifest
from builders.sql import identifier, literal
from builders.views import connect

if TYPE_CHECKING:
    import duckdb

FORMAT = "icr2-statistics/1"
RULES = {
    "answer_types": "yes_no is yes or no; label is a label of the task; number_or_date has a digit, "
    "and each of its words has a digit, is an English month or is one of am, pm, ad, bc, bce, ce, of, the, to, and, "
    "percent, hundred, thousand, million, billion; other is the rest",
    "gold_tenths": "share of the gold passages in each tenth of a context, counted in passages; one that stands across "
    "a border counts in both tenths by its parts, so that gold at random places has 0.1 in each",
    "retrievers": "share: of all confounders, found by this one (several may find the same); exclusive: found by no "
    "other; overlap: found by both, of those found by either",
}

_NUMBER_WORDS = """
    january february march april may june july august september october november december
    am pm ad bc bce ce of the to and percent hundred thousand million billion
""".split()

_FACTS = r"""
CREATE OR REPLACE TEMP TABLE facts AS
SELECT coalesce(task, '') AS task, context_id, len(passages) AS passages, n_tokens AS tokens, gold,
       confounding_ratio AS ratio,
       len(answers) AS answers, coalesce(answers[1], '') AS answer,
       len(regexp_extract_all(coalesce(answers[1], ''), '\S+')) AS answer_words,
       len(regexp_extract_all(query, '\S+')) AS query_words, answer_kind, hops, depth,
       reasoning_types, flags
FROM {config} WHERE split = {split}
"""

_WORD_IS_NUMBER = "regexp_matches(word, '[0-9]') OR list_contains($number_words, word)"
_ANSWER_TYPE = rf"""
CASE WHEN regexp_replace(lower(answer), '[^\pL\pN]+', '', 'g') IN ('yes', 'no') THEN 'yes_no'
     WHEN answer_kind = 'label' THEN 'label'
     WHEN regexp_matches(answer, '[0-9]') AND
          len(list_filter(regexp_extract_all(lower(answer), '[\pL\pN]+'), lambda word: NOT ({_WORD_IS_NUMBER}))) = 0
          THEN 'number_or_date'
     ELSE 'other' END
"""

# A context of n passages has length 10n, a tenth has n and a passage 10: integers, exactly uniform.
_TENTHS = """
SELECT task, tenth, sum(greatest(0, least(10 * place + 10, (tenth + 1) * n) - greatest(10 * place, tenth * n)))
FROM (SELECT task, passages AS n, unnest(gold) AS place FROM facts), range(10) AS tenths(tenth)
GROUP BY GROUPING SETS ((tenth), (task, tenth))
"""

_PASSAGES = """
SELECT task, role, retrievers, count(*) FROM (
    SELECT task, coalesce(p.role, '') AS role, coalesce(list_sort(p.retrievers), []) AS retrievers
    FROM (SELECT coalesce(task, '') AS task, unnest(passages) AS p FROM {config} WHERE split = {split}))
GROUP BY GROUPING SETS ((role, retrievers), (task, role, retrievers))
"""

_DISTINCT = r"""
SELECT count(DISTINCT pid), count(DISTINCT regexp_replace(pid, ':[^:]*$', ''))
FROM (SELECT unnest(passages).pid AS pid FROM all_configs)
"""

_DEPTHS = """
SELECT task, depth, count(*) FROM facts WHERE depth IS NOT NULL GROUP BY GROUPING SETS ((depth), (task, depth))
"""

_MEASURED = ("passages", "tokens", "gold", "ratio", "answers", "query_words")

Advance = Callable[[], object]
Record = dict[str, Any]


def measure(folder: Path, advance: Advance = lambda: None) -> Record:
    """All statistics of a dataset folder, as in `statistics.json`; `advance` is called once per config.

    Each config and split has the statistics of all its rows and, under `tasks`, those of each task.
    """
    manifest = read_manifest(folder)
    connection = connect(folder)
    connection.execute("SET memory_limit = '1GB'")
    connection.execute("SET temp_directory = ?", [tempfile.gettempdir()])
    configs: dict[str, Record] = {}
    for config, about in manifest.configs.items():
        configs[config] = {
            split: {**_split(connection, config, split, manifest), **_sizes(folder, files)}
            for split, files in about.files.items()
        }
        advance()
    return {
        "format": FORMAT,
        "manifest_sha256": manifest.sha256,
        "rules": RULES,
        "dataset": _dataset(connection, manifest),
        "table_2": table_2(configs),
        "configs": configs,
    }


def table_2(configs: Mapping[str, Record]) -> list[Record]:
    """The paper's table 2: mean passages, prompt tokens and gold per query, by config, split and task."""
    return [
        {
            "config": config,
            "split": split,
            "task": task,
            "rows": group["rows"],
            **{name: group[name]["mean"] for name in ("passages", "tokens", "gold")},
        }
        for config, splits in configs.items()
        for split, whole in splits.items()
        for task, group in whole["tasks"].items()
    ]


def _split(connection: "duckdb.DuckDBPyConnection", config: str, split: str, manifest: Manifest) -> Record:
    place = {"config": identifier(config), "split": literal(split)}
    connection.execute(_FACTS.format(**place))
    groups = _by_task(connection, _summary(), {"number_words": _NUMBER_WORDS})
    _check(groups, config, split, manifest)
    for group in groups.values():
        group |= {name: group[name] or {} for name in ("answer_types", "hops")}  # null without any value
    for name in ("flags", "reasoning_types"):
        counted = f"SELECT task, {name}, count(*) FROM (SELECT task, unnest({name}) AS {name} FROM facts)"
        sets = f"GROUP BY GROUPING SETS (({name}), (task, {name}))"
        _attach(groups, name, connection.execute(f"{counted} WHERE {name} IS NOT NULL {sets}"))
    _attach(groups, "depths", connection.execute(_DEPTHS))
    _attach(groups, "gold_tenths", connection.execute(_TENTHS))
    found: dict[str | None, list[tuple]] = {}
    for task, *rest in connection.execute(_PASSAGES.format(**place)).fetchall():
        found.setdefault(task, []).append(tuple(rest))
    for task, group in groups.items():
        tenths = group["gold_tenths"]
        total = sum(tenths.values()) or 1
        group["gold_tenths"] = [round(tenths.get(tenth, 0) / total, 4) for tenth in range(10)]
        group |= _composition(found.get(task, []), list(manifest.retrievers))
    tasks = [task for task in manifest.tasks if task in groups]
    return {**groups[None], "tasks": {task: groups[task] for task in tasks}}


def _check(groups: Mapping[str | None, Record], config: str, split: str, manifest: Manifest) -> None:
    """SetupError where a split has no rows, a task that the manifest lacks, or a column without values."""
    where, again = f"{config}/{split} of {manifest.name}", "see what is broken with: icr2 validate"
    if not groups[None]["rows"]:
        raise SetupError(f"{where} has no rows; {again}")
    if sum(groups[task]["rows"] for task in manifest.tasks if task in groups) < groups[None]["rows"]:
        raise SetupError(f"{where} has rows of other tasks than {', '.join(manifest.tasks)}; {again}")
    for name in _MEASURED:
        if any(group[name]["mean"] is None for group in groups.values()):
            raise SetupError(f"{where} has a task whose rows have no {name.replace('_', ' ')}; {again}")


def _summary() -> str:
    spreads = {
        "passages": "passages",
        "tokens": "tokens",
        "gold": "len(gold)",
        "ratio": "ratio::DECIMAL(9, 6)",  # a sum of doubles depends on the order of the threads
        "answers": "answers",
        "answer_words": "answer_words",
        "query_words": "query_words",
    }
    columns = [f"{_spread(expression)} AS {name}" for name, expression in spreads.items()]
    columns += [f"histogram({_ANSWER_TYPE}) AS answer_types", "histogram(hops) AS hops"]
    return (
        f"SELECT task, count(*) AS rows, count(DISTINCT context_id) AS contexts, {', '.join(columns)} "
        "FROM facts GROUP BY GROUPING SETS ((), (task))"
    )


def _spread(expression: str) -> str:
    quantiles = {"p5": 0.05, "median": 0.5, "p95": 0.95}
    parts = [f"'{name}': quantile_cont({expression}, {at})::DOUBLE" for name, at in quantiles.items()]
    ends = [f"'{name}': {name}({expression})::DOUBLE" for name in ("min", "max")]
    return f"{{'mean': avg({expression})::DOUBLE, {ends[0]}, {', '.join(parts)}, {ends[1]}}}"


def _by_task(connection: "duckdb.DuckDBPyConnection", query: str, parameters: Record) -> dict[str | None, Record]:
    """One record per task, and one under None for all tasks; numbers rounded, histograms sorted."""
    result = connection.execute(query, parameters)
    names = [column[0] for column in result.description]
    groups = {}
    for task, *values in result.fetchall():
        groups[task] = {name: _tidy(value) for name, value in zip(names[1:], values, strict=True)}
    return groups


def _tidy(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _tidy(inner) for key, inner in value.items()}
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 4)
    return value


def _attach(groups: dict[str | None, Record], name: str, result: "duckdb.DuckDBPyConnection") -> None:
    """Adds (task, key, number) rows to the groups as {key: number}, in the order of keys."""
    for group in groups.values():
        group[name] = {}
    for task, key, number in sorted(result.fetchall(), key=lambda row: row[1]):
        groups[task][name][key] = int(number)


def _composition(found: Iterable[tuple[str, Sequence[str], int]], retrievers: Sequence[str]) -> Record:
    """Shares of the roles, and of each retriever among the confounders, from (role, retrievers, passages)."""
    found = list(found)
    passages = sum(n for _, _, n in found) or 1
    sets = {frozenset(names): n for role, names, n in found if role == "confounder"}
    confounders = sum(sets.values())
    names = [name for name in retrievers if any(name in among for among in sets)]

    def by(*wanted: str, every: bool = True) -> int:
        return sum(n for among, n in sets.items() if (all if every else any)(name in among for name in wanted))

    return {
        "roles": {role: round(sum(n for r, _, n in found if r == role) / passages, 4) for role in ROLES},
        "confounders": confounders,
        "retrievers": {
            name: {
                "share": round(by(name) / confounders, 4),
                "exclusive": round(sets.get(frozenset((name,)), 0) / confounders, 4),
            }
            for name in names
        },
        "overlap": [
            {"between": [a, b], "jaccard": round(by(a, b) / by(a, b, every=False), 4)}
            for a, b in combinations(names, 2)
        ],
    }


def _sizes(folder: Path, files: Sequence[File]) -> Record:
    """Bytes of a split on disk, and as Arrow in memory, as `datasets` counts them."""
    import pyarrow.parquet as pq

    in_memory = 0
    for file in files:
        with pq.ParquetFile(folder / file.path) as parquet:
            in_memory += sum(batch.nbytes for batch in parquet.iter_batches(batch_size=100))
    return {"bytes": sum(file.bytes for file in files), "bytes_in_memory": in_memory}


def _dataset(connection: "duckdb.DuckDBPyConnection", manifest: Manifest) -> Record:
    passages, pages = connection.execute(_DISTINCT).fetchall()[0]
    queries = "SELECT split, count(DISTINCT (task, query)) FROM all_configs GROUP BY split ORDER BY split"
    files = [file for config in manifest.configs.values() for files in config.files.values() for file in files]
    return {
        "rows": sum(file.rows for file in files),
        "bytes": sum(file.bytes for file in files),
        "queries": dict(connection.execute(queries).fetchall()),
        "distinct_passages": passages,
        "distinct_pages": pages,
        "counts": manifest.counts,
    }
