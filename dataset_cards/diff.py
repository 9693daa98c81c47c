"""The differences between two datasets: configs, rows matched by id, and their fields."""

from collections.abc import Iterator, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.errors import SetupError
from builders.hub import from_hub
from builders.manifest import File, Manifest, read_manifest
from builders.schema import INSTANCES
from builders.sql import read_parquet

if TYPE_CHECKING:
    import duckdb

IDS = 100  # most ids of each kind in the result
FIELDS = [name for name in INSTANCES.names if name != "id"]


class Listed(NamedTuple):
    """A file of a split: its path and its current digest."""

    path: str
    sha256: str


Files = list[Listed]


class Side(NamedTuple):
    """One of the two datasets: its manifest, its files by config and split, and their origin."""

    spec: str
    manifest: Manifest
    files: dict[str, dict[str, Files]]
    folder: Path | None  # None: on the Hub

    def paths(self, files: Files) -> list[str]:
        """Local paths of some files; those of the Hub are downloaded into its cache."""
        wanted = [file.path for file in files]
        folder = self.folder or _fetched(self.spec, wanted)
        return [str(folder / path) for path in wanted]


def compare(a: str, b: str) -> dict[str, Any]:
    """The differences between two datasets, each a folder or `OWNER/NAME[@REVISION]` on the Hub.

    Rows are matched by id within a config and split; files with the same sha256 are neither downloaded nor read. A
    folder's files are hashed, the Hub's digests come from the manifest. SetupError where one is not a dataset, or an id
    occurs twice in a split.
    """
    left, right = _side(a), _side(b)
    ours, theirs = left.files, right.files
    both = [config for config in ours if config in theirs]
    differences = {
        "version": _unequal(*({"version": side.manifest.version} for side in (left, right))).get("version"),
        "recipe": _unequal(*({**_flat(side.manifest.recipe), "version": None} for side in (left, right))),
        "configs_added": [config for config in theirs if config not in ours],
        "configs_removed": [config for config in ours if config not in theirs],
        "configs_changed": {config: splits for config in both if (splits := _splits(left, right, config))},
    }
    return {"equal": not any(differences.values()), **differences}


def _unequal(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The keys whose values differ, with both."""
    return {key: [a.get(key), b.get(key)] for key in sorted(a.keys() | b.keys()) if a.get(key) != b.get(key)}


def _side(spec: str) -> Side:
    folder = Path(spec) if Path(spec).is_dir() else None
    manifest = read_manifest(folder or _fetched(spec, ["manifest.json"]))
    files = {
        name: {split: [_listed(manifest, file, folder) for file in listed] for split, listed in config.files.items()}
        for name, config in manifest.configs.items()
    }
    return Side(spec, manifest, files, folder)


def _listed(manifest: Manifest, file: File, folder: Path | None) -> Listed:
    """A file with its current digest, since a local file may have changed."""
    if folder is None:
        return Listed(file.path, file.sha256)
    path = manifest.path_of(folder, file)
    if not path.is_file():
        raise SetupError(f"{path} is missing, and the manifest lists it; see: icr2 validate {folder}")
    with path.open("rb") as stream:
        return Listed(file.path, file_digest(stream, "sha256").hexdigest())


def _fetched(spec: str, paths: list[str]) -> Path:
    from huggingface_hub import snapshot_download

    def get(repository: str, revision: str | None) -> str:
        return snapshot_download(repository, repo_type="dataset", revision=revision, allow_patterns=paths)

    return from_hub("the dataset", spec, "folder", get)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) and value else {f"{prefix}{key}": value}
    return flat


def _splits(a: Side, b: Side, config: str) -> dict[str, dict[str, Any]]:
    """The differing splits of a config."""
    found = {split: _rows(a, b, config, split) for split in {**a.files[config], **b.files[config]}}
    return {split: rows for split, rows in found.items() if rows["added"] or rows["removed"] or rows["changed"]}


def _rows(a: Side, b: Side, config: str, split: str) -> dict[str, Any]:
    ours, theirs = (side.files[config].get(split, []) for side in (a, b))
    common = {file.sha256 for file in ours} & {file.sha256 for file in theirs}
    ours, theirs = ([file for file in files if file.sha256 not in common] for files in (ours, theirs))
    if not ours and not theirs:
        return {"added": 0, "removed": 0, "changed": 0}
    import duckdb

    connection = duckdb.connect()
    try:
        for name, side, files in (("a", a, ours), ("b", b, theirs)):
            _load(connection, name, side, config, side.paths(files))
        return _difference(connection)
    except duckdb.Error as error:
        raise SetupError(f"comparing {a.spec} with {b.spec}: DuckDB: {' '.join(str(error).split())}") from None


def _load(connection: "duckdb.DuckDBPyConnection", name: str, side: Side, config: str, paths: list[str]) -> None:
    """A table of a split's ids, the hash of every field, and the pids: small for any context length."""
    fields = ", ".join(f"hash({field}) AS {field}" for field in FIELDS)
    if paths:
        source = side.manifest.rows_sql(read_parquet(map(Path, paths)), config)
    else:
        connection.register(f"{name}_empty", INSTANCES.empty_table())
        source = f"{name}_empty"
    connection.execute(f"CREATE TABLE {name} AS SELECT id, [p.pid FOR p IN passages] AS pids, {fields} FROM {source}")
    double = connection.execute(f"SELECT id FROM {name} GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 1").fetchone()
    if double:
        raise SetupError(f"id {double[0]} occurs twice in {', '.join(paths)}; cannot match rows: rebuild it")


def _difference(connection: "duckdb.DuckDBPyConnection") -> dict[str, Any]:
    ids = {
        "added": "SELECT id FROM b ANTI JOIN a USING (id)",
        "removed": "SELECT id FROM a ANTI JOIN b USING (id)",
        "changed": f"SELECT id FROM a JOIN b USING (id) WHERE {' OR '.join(f'a.{f} <> b.{f}' for f in FIELDS)}",
    }
    result: dict[str, Any] = {}
    for kind, query in ids.items():
        result[kind] = _one(connection, f"SELECT count(*) FROM ({query})")[0]
    sums = ", ".join(f"count(*) FILTER (a.{field} <> b.{field})" for field in FIELDS)
    counts = _one(connection, f"SELECT {sums} FROM a JOIN b USING (id)")
    result["fields"] = {field: count for field, count in zip(FIELDS, counts, strict=True) if count}
    pids = [_one(connection, _PIDS.format(*sides))[0] for sides in ("ba", "ab")]
    result["passages_added"], result["passages_removed"] = pids
    for kind, query in ids.items():
        rows = connection.execute(f"{query} ORDER BY id LIMIT {IDS}").fetchall()
        result[f"{kind}_ids"] = [row[0] for row in rows]
    return result


# passages in rows of the first table that are missing in the same rows of the second
_PIDS = """
SELECT coalesce(sum(len(list_filter({0}.pids, lambda pid: NOT list_contains({1}.pids, pid)))), 0)
FROM {0} JOIN {1} USING (id) WHERE {0}.passages <> {1}.passages
"""


def _one(connection: "duckdb.DuckDBPyConnection", query: str) -> tuple[Any, ...]:
    return connection.execute(query).fetchall()[0]


def lines_of(difference: dict[str, Any]) -> Iterator[str]:
    """A difference as lines of text."""
    if difference["equal"]:
        yield "no difference"
        return
    if difference["version"]:
        yield "version: {} -> {}".format(*difference["version"])
    for key, values in difference["recipe"].items():
        yield f"recipe {key}: {values[0]!r} -> {values[1]!r}"
    for kind in ("added", "removed"):
        yield from (f"config {config} {kind}" for config in difference[f"configs_{kind}"])
    for config, splits in difference["configs_changed"].items():
        for split, rows in splits.items():
            yield f"{config} {split}: " + ", ".join(
                f"{rows[kind]:,} {kind}" for kind in ("added", "removed", "changed")
            )
            fields = [f"{field} in {count:,}" for field, count in rows["fields"].items()]
            if fields:
                yield f"  changed fields: {', '.join(fields)}"
            if "passages" in rows["fields"]:
                yield f"  their passages: {rows['passages_added']:,} added, {rows['passages_removed']:,} removed"
