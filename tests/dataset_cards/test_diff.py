"""Known changes between two datasets are what `icr2 diff` reports, and nothing else."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from huggingface_hub import HfApi
from rich.console import Console
from typer.testing import CliRunner

from builders.errors import SetupError
from builders.schema import INSTANCES
from dataset_cards.diff import compare, lines_of
from dataset_cards.hub import Repository
from dataset_cards.publish import publish
from dataset_cards.publish_cli import register
from dataset_cards.release import checked_release
from tests.dataset_cards.ready import Row, change_rows, make_ready, manifest_of, only, rows_of
from tests.hub.clients import TOKEN
from tests.hub.server import LoopbackHub

NOTHING = {"added": 0, "removed": 0, "changed": 0, "fields": {}, "passages_added": 0, "passages_removed": 0}
NO_IDS: dict[str, list[str]] = {"added_ids": [], "removed_ids": [], "changed_ids": []}


@pytest.fixture
def other(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "other")


def changes(a: Path, b: Path) -> dict[str, Any]:
    return compare(str(a), str(b))["configs_changed"]


def first(**values: object) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [{**rows[0], **values}, *rows[1:]]


def test_a_dataset_does_not_differ_from_itself(built: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("duckdb.connect")  # equal by their digests: no file is read
    difference = compare(str(built), str(other))
    assert difference == {
        "equal": True,
        "version": None,
        "recipe": {},
        "configs_added": [],
        "configs_removed": [],
        "configs_changed": {},
    }
    assert list(lines_of(difference)) == ["no difference"]


def test_rows_added_and_removed(built: Path, other: Path) -> None:
    ids = [row["id"] for row in rows_of(built, "1k_p50", "test")]
    change_rows(other, "1k_p50", "test", lambda rows: [*rows[2:], {**rows[0], "id": "nq-new"}])
    want = {**NOTHING, **NO_IDS, "added": 1, "removed": 2, "added_ids": ["nq-new"], "removed_ids": sorted(ids[:2])}
    assert changes(built, other) == {"1k_p50": {"test": want}}
    back = {**NOTHING, **NO_IDS, "added": 2, "removed": 1, "added_ids": sorted(ids[:2]), "removed_ids": ["nq-new"]}
    assert changes(other, built) == {"1k_p50": {"test": back}}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query", "another question?"),
        ("answers", ["another"]),
        ("answers", []),
        ("n_tokens", None),
        ("flags", ["underfull"]),
        ("confounding_ratio", 0.123),
        ("task", "musique"),
    ],
)
def test_a_changed_field(field: str, value: object, built: Path, other: Path) -> None:
    row = rows_of(built, "2k_p75", "train")[0]
    change_rows(other, "2k_p75", "train", first(**{field: value}))
    want = {**NOTHING, **NO_IDS, "changed": 1, "fields": {field: 1}, "changed_ids": [row["id"]]}
    assert changes(built, other) == {"2k_p75": {"train": want}}


def test_rows_in_another_order_are_the_same(built: Path, other: Path) -> None:
    change_rows(other, "2k_p75", "train", lambda rows: rows[::-1])
    assert (
        manifest_of(built)["configs"]["2k_p75"]["files"]["train"]
        != manifest_of(other)["configs"]["2k_p75"]["files"]["train"]
    )
    assert compare(str(built), str(other))["equal"]


def test_changed_passages_by_pid(built: Path, other: Path) -> None:
    """Three passages of the first row go, one comes; a text of the second row changes under its pid."""
    old = rows_of(built, "2k_p50", "test")

    def change(rows: list[Row]) -> list[Row]:
        rows[0]["passages"] = [*rows[0]["passages"][3:], {**rows[0]["passages"][0], "pid": "new:0"}]
        rows[1]["passages"][0]["text"] += " More."
        return rows

    change_rows(other, "2k_p50", "test", change)
    want = {
        "changed": 2,
        "fields": {"passages": 2},
        "passages_added": 1,
        "passages_removed": 3,
        "changed_ids": sorted(row["id"] for row in old[:2]),
    }
    assert changes(built, other) == {"2k_p50": {"test": {**NOTHING, **NO_IDS, **want}}}


def test_configs_splits_version_and_recipe(built: Path, other: Path) -> None:
    only(other, [config for config in manifest_of(other)["configs"] if config != "loft_2k"], version="1.1.0")
    manifest = manifest_of(other)
    del manifest["configs"]["1k_p0"]["files"]["train"]
    manifest["recipe"]["tasks"]["nq"]["take"]["test"]["n"] = 5
    manifest["recipe"]["lengths"] = ["1k"]
    make_ready(other, manifest)
    difference = compare(str(built), str(other))
    assert difference["version"] == ["1.0.0", "1.1.0"]
    assert difference["recipe"] == {"lengths": [["1k", "2k"], ["1k"]], "tasks.nq.take.test.n": [6, 5]}
    assert (difference["configs_added"], difference["configs_removed"]) == ([], ["loft_2k"])
    rows = rows_of(built, "1k_p0", "train")
    removed = {"removed": len(rows), "removed_ids": sorted(row["id"] for row in rows)}
    assert difference["configs_changed"] == {"1k_p0": {"train": {**NOTHING, **NO_IDS, **removed}}}
    assert compare(str(other), str(built))["configs_added"] == ["loft_2k"]
    assert list(lines_of(difference)) == [
        "version: 1.0.0 -> 1.1.0",
        "recipe lengths: ['1k', '2k'] -> ['1k']",
        "recipe tasks.nq.take.test.n: 6 -> 5",
        "config loft_2k removed",
        "1k_p0 train: 0 added, 12 removed, 0 changed",
    ]


def test_an_id_that_stands_twice_is_refused(built: Path, other: Path) -> None:
    change_rows(other, "1k_p0", "test", lambda rows: [*rows, rows[3]])
    with pytest.raises(SetupError, match=f"id {rows_of(built, '1k_p0', 'test')[3]['id']} occurs twice"):
        compare(str(built), str(other))


def test_a_file_that_was_changed_by_hand_is_no_equal_one(built: Path, other: Path) -> None:
    """The manifest is unchanged."""
    config, split = next((name, next(iter(about["files"]))) for name, about in manifest_of(other)["configs"].items())
    (entry,) = manifest_of(other)["configs"][config]["files"][split]
    path = other / entry["path"]
    rows = pq.read_table(path).to_pylist()
    rows[0]["query"] = "changed by hand"
    path.unlink()
    pq.write_table(pa.Table.from_pylist(rows, schema=INSTANCES), path)
    assert compare(str(built), str(other))["configs_changed"][config][split]["changed"] == 1
    path.write_bytes(b"no parquet")
    with pytest.raises(SetupError, match="comparing"):
        compare(str(built), str(other))
    path.unlink()
    with pytest.raises(SetupError, match="is missing, and the manifest lists it"):
        compare(str(built), str(other))


def test_what_is_no_dataset_is_refused(built: Path, tmp_path: Path, hub: LoopbackHub) -> None:
    with pytest.raises(SetupError, match=r"has no manifest.json"):
        compare(str(built), str(tmp_path))
    with pytest.raises(SetupError, match="the dataset 'me/none' is not a folder, and the Hub did not serve it"):
        compare(str(built), "me/none")


def test_a_folder_and_revisions_of_the_hub(built: Path, other: Path, hub: LoopbackHub) -> None:
    """Only files that differ are fetched."""
    repository = Repository(HfApi(endpoint=hub.url, token=TOKEN), "me/icr2")
    publish(checked_release(built, None, Console(quiet=True)), repository, private=False)
    change_rows(other, "2k_p75", "test", first(query="another question?"))
    only(other, manifest_of(other)["configs"], version="1.1.0")
    publish(checked_release(other, None, Console(quiet=True)), repository, private=False)
    asked = len(hub.requests)
    difference = compare(str(built), "me/icr2@v1.1.0")
    assert difference["version"] == ["1.0.0", "1.1.0"]
    assert {config: list(splits) for config, splits in difference["configs_changed"].items()} == {"2k_p75": ["test"]}
    fetched = {request.path.split("/resolve/")[1] for request in hub.requests[asked:] if "/resolve/" in request.path}
    assert {path.split("/", 1)[1] for path in fetched} == {"manifest.json", "2k_p75/test-00000-of-00001.parquet"}
    assert compare("me/icr2@v1.0.0", "me/icr2") == difference
    assert compare(str(built), "me/icr2@v1.0.0")["equal"]


def test_the_command(built: Path, other: Path) -> None:
    app = typer.Typer()
    register(app)

    def run(*arguments: object) -> str:
        done = CliRunner().invoke(app, ["diff", *map(str, arguments)])
        assert done.exit_code == 0
        return done.stdout

    assert run(built, other) == "no difference\n"
    change_rows(other, "2k_p75", "test", first(query="another [question]?", passages=[]))
    passages = len(rows_of(built, "2k_p75", "test")[0]["passages"])
    assert run(built, other).splitlines() == [
        "2k_p75 test: 0 added, 0 removed, 1 changed",
        "  changed fields: query in 1, passages in 1",
        f"  their passages: 0 added, {passages} removed",
    ]
    assert json.loads(run(built, other, "--json")) == compare(str(built), str(other))
