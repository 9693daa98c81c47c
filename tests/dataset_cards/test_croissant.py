"""The Croissant file, read by mlcroissant from the folder and with no network."""

import json
import shutil
import socket
from pathlib import Path
from typing import Any, NoReturn

import mlcroissant as mlc
import pytest

from builders.manifest import read_manifest
from builders.schema import INSTANCES
from dataset_cards.croissant import croissant
from dataset_cards.statistics import measure
from tests.dataset_cards.ready import manifest_of, only, rows_of


@pytest.fixture(scope="module")
def described(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny dataset with its Croissant file."""
    folder = shutil.copytree(built, tmp_path_factory.mktemp("croissant") / "icr2")
    metadata = croissant(read_manifest(folder), measure(folder), INSTANCES, published="2026-11-30")
    (folder / "croissant.json").write_text(json.dumps(metadata), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> NoReturn:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def plain(value: Any, prefix: str) -> Any:
    """A record of mlcroissant as Python's own types, its fields by their short names."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {key.removeprefix(prefix): plain(inner, f"{key}/") for key, inner in value.items()}
    return [plain(inner, prefix) for inner in value] if isinstance(value, list) else value


def members(value: dict) -> dict:
    """A passage by the short names of its members."""
    return {key.rsplit("/", 1)[-1]: inner for key, inner in value.items()}


@pytest.mark.parametrize("config", ["1k_p75", "loft_2k"])
def test_records_equal_the_files(described: Path, config: str) -> None:
    dataset = mlc.Dataset(jsonld=str(described / "croissant.json"))
    assert not dataset.metadata.issues.errors
    assert not dataset.metadata.issues.warnings
    records = [plain(record, f"{config}/") for record in dataset.records(config)]
    found: dict[tuple[str, str], dict] = {}
    for record in records:
        record["passages"] = [members(passage) for passage in record["passages"]]
        found[record.pop("split"), record["id"]] = record
    wanted = {
        (split, row["id"]): row
        for split in manifest_of(described)["configs"][config]["files"]
        for row in rows_of(described, config, split)
    }
    assert found == wanted


def test_one_split_is_read_alone(described: Path) -> None:
    dataset = mlc.Dataset(jsonld=str(described / "croissant.json"))
    records = dataset.records("1k_p0", filters={"1k_p0/split": "validation"})
    assert {record["1k_p0/split"] for record in records} == {b"validation"}


def test_every_file_by_its_path_and_digest(described: Path) -> None:
    metadata = json.loads((described / "croissant.json").read_text(encoding="utf-8"))
    objects = {f["contentUrl"]: f for f in metadata["distribution"] if f["@type"] == "cr:FileObject"}
    configs = manifest_of(described)["configs"].values()
    files = [file for config in configs for files in config["files"].values() for file in files]
    assert {path: found["sha256"] for path, found in objects.items()} == {f["path"]: f["sha256"] for f in files}
    assert [found["@id"] for found in metadata["recordSet"]][:2] == ["1k_p0", "1k_p50"]


def test_only_the_date_is_wanting_without_one(dataset: Path) -> None:
    only(dataset, ["1k_p0"])
    metadata = croissant(read_manifest(dataset), measure(dataset), INSTANCES)
    issues = mlc.Dataset(jsonld=metadata).metadata.issues
    assert not issues.errors
    (warning,) = issues.warnings
    assert "datePublished" in warning
