"""Publishing to a Hub on loopback: uploaded, unchanged and refused files."""

import hashlib
import json
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants
from rich.console import Console

from builders.errors import SetupError
from dataset_cards.dry_run import remote_plan
from dataset_cards.hub import Repository
from dataset_cards.publish import Published
from dataset_cards.release import checked_release
from tests.dataset_cards.cards import split_card
from tests.dataset_cards.publishing import (
    REPO,
    ROWS,
    files_of,
    on_hub,
    parquet,
    publish,
    repository,
    with_config,
    writes,
)
from tests.dataset_cards.ready import change_rows, make_ready, manifest_of, only
from tests.hub.server import LoopbackHub


def test_one_commit_and_one_tag(dataset: Path, hub: LoopbackHub) -> None:
    done = publish(dataset, hub)
    repo = hub.state.repos[REPO]
    assert done == Published(repo.head, new_commit=True, new_tag=True)
    assert repo.tags == {"v1.0.0": repo.head}
    assert len(repo.commits) == 2  # the repository's own first, and ours
    assert on_hub(repo) == files_of(dataset)


def test_again_does_nothing(dataset: Path, hub: LoopbackHub) -> None:
    """The same bytes make no commit."""
    first = publish(dataset, hub)
    before = writes(hub)
    assert publish(dataset, hub) == Published(first.commit, new_commit=False, new_tag=False)
    assert writes(hub) == before
    assert len(hub.state.repos[REPO].commits) == 2


def test_a_tag_never_moves(dataset: Path, hub: LoopbackHub) -> None:
    """Other bytes under a published version are refused."""
    first = publish(dataset, hub)
    change_rows(dataset, "2k_p50", "test", lambda rows: rows[1:])
    with pytest.raises(SetupError, match=r"has v1.0.0 with other bytes \(\d+ files, such as .*set a new version"):
        publish(dataset, hub)
    repo = hub.state.repos[REPO]
    assert repo.tags == {"v1.0.0": first.commit}
    assert repo.head == first.commit


def test_a_small_file_counts_as_bytes_too(dataset: Path, hub: LoopbackHub) -> None:
    publish(dataset, hub)
    with (dataset / "README.md").open("a") as card:
        card.write("one more line\n")
    with pytest.raises(SetupError, match=r"\(1 files, such as README.md\)"):
        publish(dataset, hub)


def test_a_new_version_takes_over_what_is_equal_and_drops_what_is_gone(dataset: Path, hub: LoopbackHub) -> None:
    first = publish(dataset, hub)
    sent = hub.count("PUT", "/large")
    assert sent == 27
    change_rows(dataset, "2k_p50", "test", lambda rows: rows[1:])
    manifest = manifest_of(dataset)
    del manifest["configs"]["1k_p0"]["files"]["train"]
    (dataset / "1k_p0/train-00000-of-00001.parquet").unlink()
    make_ready(dataset, {**manifest, "version": "1.1.0"})
    second = publish(dataset, hub)
    repo = hub.state.repos[REPO]
    assert hub.count("PUT", "/large") == sent + 1
    assert repo.tags == {"v1.0.0": first.commit, "v1.1.0": second.commit}
    assert on_hub(repo) == files_of(dataset)
    assert "1k_p0/train-00000-of-00001.parquet" in on_hub(repo, "v1.0.0")
    assert publish(dataset, hub).new_commit is False


def test_files_of_others_are_left_alone(dataset: Path, hub: LoopbackHub) -> None:
    repo = hub.state.create(REPO, private=False)
    repo.write("LICENSE", b"theirs")
    repo.write("1k_p0/notes.md", b"theirs")
    repo.write("1k_p0/old.parquet", b"of a build before")
    publish(dataset, hub)
    assert on_hub(repo) == {**files_of(dataset), "LICENSE": b"theirs", "1k_p0/notes.md": b"theirs"}


def test_other_configs_stay(built: Path, dataset: Path, hub: LoopbackHub) -> None:
    """A build with other configs does not drop those that are there."""
    publish(built, hub)
    only(dataset, ["1k_p75"], version="1.1.0")
    change_rows(dataset, "1k_p75", "test", lambda rows: rows[1:])
    publish(dataset, hub)
    repo = hub.state.repos[REPO]
    head = split_card(on_hub(repo)["README.md"].decode())[0]
    assert sorted(config["config_name"] for config in head["configs"]) == sorted(manifest_of(built)["configs"])
    listed = {path for config in head["configs"] for entry in config["data_files"] for path in entry["path"]}
    assert listed == {path for path in on_hub(repo) if path.endswith(".parquet")}
    assert publish(dataset, hub).new_commit is False


def test_a_file_among_ours_that_another_config_lists_stays(built: Path, hub: LoopbackHub) -> None:
    content = (built / "2k_p0/test-00000-of-00001.parquet").read_bytes()
    repo = with_config(hub, "old", "1k_p0/old.parquet", content)
    publish(built, hub)
    assert on_hub(repo)["1k_p0/old.parquet"] == content


def test_another_schema_is_refused_by_its_footer(dataset: Path, hub: LoopbackHub) -> None:
    content = parquet(ROWS)
    repo = with_config(hub, "old", "old/test.parquet", content)
    before = repo.head
    with pytest.raises(SetupError, match=r"old/test.parquet of me/icr2 has another schema; publish to another"):
        publish(dataset, hub)
    assert (repo.head, repo.tags) == (before, {})
    assert hub.count("PUT") == 0
    ranges = [r.headers["range"] for r in hub.requests if r.path.endswith("/old/test.parquet") and r.method == "GET"]
    spans = [[int(end) for end in asked.removeprefix("bytes=").split("-")] for asked in ranges]
    assert 0 < sum(end - start + 1 for start, end in spans) < len(content) / 4


def test_other_kinds_of_files_are_refused(dataset: Path, hub: LoopbackHub) -> None:
    with_config(hub, "old", "old/test.jsonl", b"{}\n")
    with pytest.raises(SetupError, match=r"old/test.jsonl, which is not Parquet"):
        publish(dataset, hub)


def test_private(built: Path, hub: LoopbackHub) -> None:
    publish(built, hub, private=True)
    assert hub.state.repos[REPO].private
    hub.state.repos[REPO].private = False
    with pytest.raises(SetupError, match="exists and is public"):
        publish(built, hub, private=True)


def test_long_listings_and_large_files_in_parts(built: Path, hub: LoopbackHub) -> None:
    hub.page_size, hub.part_size = 7, 20_000
    publish(built, hub)
    assert on_hub(hub.state.repos[REPO]) == files_of(built)
    assert publish(built, hub).new_commit is False


def test_large_files_go_in_batches(built: Path, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataset_cards.publish.BATCH", 200_000)
    publish(built, hub)
    assert hub.count("POST", f"/datasets/{REPO}.git/info/lfs/objects/batch") > 2
    assert on_hub(hub.state.repos[REPO]) == files_of(built)


def test_a_dry_run_changes_nothing(dataset: Path, hub: LoopbackHub) -> None:
    release = checked_release(dataset, None, Console(quiet=True))
    changes, note = remote_plan(release, repository(hub))
    assert changes.send.keys() == files_of(dataset).keys()
    assert "would be created" in note
    assert hub.state.repos == {}
    publish(dataset, hub)
    assert "already has v1.0.0 with these bytes" in remote_plan(release, repository(hub))[1]
    only(dataset, ["1k_p75"], version="1.1.0")
    before = writes(hub)
    changes, note = remote_plan(checked_release(dataset, None, Console(quiet=True)), repository(hub))
    assert changes.send.keys() == {"manifest.json", "README.md", "validation.json", "statistics.json"}
    assert len(changes.kept.names) == 8
    assert writes(hub) == before
    assert hub.state.repos[REPO].tags.keys() == {"v1.0.0"}


def test_a_dry_run_needs_no_hub(built: Path, hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    release = checked_release(built, None, Console(quiet=True))
    nowhere = Repository(HfApi(endpoint="http://127.0.0.1:9"), REPO)
    changes, note = remote_plan(release, nowhere)
    assert (len(changes.send), note[:23]) == (31, "the Hub was not reached")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in remote_plan(release, repository(hub))[1]
    assert hub.requests == []


def test_digests_on_the_hub_are_those_of_the_manifest(built: Path, hub: LoopbackHub) -> None:
    """What arrived is what was built."""
    publish(built, hub)
    content = on_hub(hub.state.repos[REPO])
    manifest = json.loads(content["manifest.json"])
    configs = manifest["configs"].values()
    files = [file for config in configs for files in config["files"].values() for file in files]
    assert {file["path"]: file["sha256"] for file in files} == {
        path: hashlib.sha256(data).hexdigest() for path, data in content.items() if path.endswith(".parquet")
    }
