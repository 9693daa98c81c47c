"""What `load_dataset` takes from a card: compared with the files before publishing, and new for other rows."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from rich.console import Console

from builders.card import card
from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.schema import INSTANCES
from dataset_cards.head import head, schema_of
from dataset_cards.release import checked_release
from dataset_cards.statistics import measure
from tests.dataset_cards.cards import join_card, split_card
from tests.dataset_cards.handmade import passage, row, write_dataset
from tests.dataset_cards.ready import make_ready, write

Info = dict[str, Any]


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A dataset of two configs, ready to be published, whose card has `dataset_info`."""
    rows = [row("a", [passage("1:0", "gold")]), row("b", [passage("1:0", "gold")])]
    return with_info(write_dataset(tmp_path / "ds", {"1k_p0": {"test": rows}, "2k_p0": {"test": rows[:1]}}))


def with_info(folder: Path) -> Path:
    make_ready(folder)
    digest = hashlib.sha256((folder / "validation.json").read_bytes()).hexdigest()
    statistics = {**measure(folder), "validation_sha256": digest}
    write(folder / "statistics.json", statistics)
    manifest = read_manifest(folder)
    text = head(manifest, statistics, schema_of(folder, manifest))
    (folder / "README.md").write_text(f"---\n{text}---\n# It\n", encoding="utf-8")
    return folder


def renamed(infos: list[Info]) -> None:
    infos[0]["features"][0]["name"] = "ids"


CHANGES: dict[str, tuple[Callable[[list[Info]], object], str]] = {
    "rows": (lambda infos: infos[0]["splits"][0].update(num_examples=7), r"splits of 1k_p0: found .*'num_examples': 7"),
    "split": (lambda infos: infos[1]["splits"][0].update(name="train"), "splits of 2k_p0: found"),
    "bytes": (lambda infos: infos[0]["splits"][0].update(num_bytes=1), "splits of 1k_p0: found"),
    "one split more": (lambda infos: infos[0]["splits"].append(infos[0]["splits"][0]), "splits of 1k_p0: found"),
    "no splits": (lambda infos: infos[0].pop("splits"), "splits of 1k_p0: found None"),
    "column removed": (lambda infos: infos[0]["features"].pop(), "features of 1k_p0: found"),
    "column renamed": (renamed, "features of 1k_p0: found"),
    "type": (lambda infos: infos[0]["features"][0].update(dtype="int64"), "features of 1k_p0: found"),
    "size": (lambda infos: infos[0].update(download_size=1), "download_size of 1k_p0: found 1, wanted"),
    "config renamed": (lambda infos: infos[0].update(config_name="x"), "found .*'x'.*, wanted one of each config"),
    "config missing": (lambda infos: infos.pop(), "wanted one of each config"),
    "config twice": (lambda infos: infos.append(infos[0]), "wanted one of each config"),
    "more": (lambda infos: infos[0].update(version="2.0.0"), "version of 1k_p0: found '2.0.0', wanted None"),
}


def checked(folder: Path) -> None:
    checked_release(folder, None, Console(quiet=True))


def test_a_card_as_it_was_written_is_published(described: Path) -> None:
    checked(described)


@pytest.mark.parametrize("name", CHANGES)
def test_any_other_fact_is_refused(name: str, described: Path) -> None:
    change, says = CHANGES[name]
    told, text = split_card((described / "README.md").read_text(encoding="utf-8"))
    told = json.loads(json.dumps(told))  # no part is shared
    change(told["dataset_info"])
    (described / "README.md").write_text(join_card(told, text), encoding="utf-8")
    with pytest.raises(SetupError, match=rf"README\.md: dataset_info: .*{says}.*; run: icr2 card") as refused:
        checked(described)
    assert "\n" not in str(refused.value)


def test_an_entry_of_another_build_is_refused(described: Path) -> None:
    told, text = split_card((described / "README.md").read_text(encoding="utf-8"))
    told["configs"][0]["description"] = "files 0000000000000000"
    (described / "README.md").write_text(join_card(told, text), encoding="utf-8")
    with pytest.raises(SetupError, match=r"configs: description of 1k_p0: found 'files 0000000000000000', wanted"):
        checked(described)


@pytest.mark.parametrize("with_sizes", [False, True])
def test_other_rows_at_the_same_path_size_and_time_are_loaded(with_sizes: bool, tmp_path: Path) -> None:
    """The key of the cache of `datasets` has path and time of a file, and its entry in the card."""
    loaded = []
    for query in ("who", "why"):
        folder = write_dataset(tmp_path / "ds", {"1k_p0": {"test": [row("a", [passage("1:0", "gold")], query=query)]}})
        if with_sizes:
            with_info(folder)
        else:
            (folder / "README.md").write_text(card(read_manifest(folder)), encoding="utf-8")
        (path,) = folder.glob("*/*.parquet")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        loaded.append((path.stat().st_size, load_dataset(str(folder), "1k_p0", cache_dir=str(tmp_path / "cache"))))
    (size, before), (same, after) = loaded
    assert size == same
    assert before["test"]["query"] == ["who"] and after["test"]["query"] == ["why"]


def test_a_second_load_uses_the_cache(described: Path, tmp_path: Path) -> None:
    for _ in range(2):
        load_dataset(str(described), "1k_p0", cache_dir=str(tmp_path / "cache"))
    assert len(list((tmp_path / "cache").glob("**/*.arrow"))) == 1


def test_the_schema_of_a_file_is_that_of_its_rows(described: Path) -> None:
    assert schema_of(described, read_manifest(described)).equals(INSTANCES)
    assert pq.read_schema(next(described.glob("1k_p0/*.parquet"))).field("hops").type == pa.int32()
