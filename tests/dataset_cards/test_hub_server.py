"""The Hub on loopback as its real clients see it: what they do on the Hub they can do here, and fail the same way."""

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, HfFileSystem, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.hub.clients import READER, TOKEN
from tests.hub.server import LoopbackHub

LARGE = bytes(range(256)) * 40  # 10,240 bytes
REPO = "me/data"


@pytest.fixture
def api(hub: LoopbackHub) -> HfApi:
    api = HfApi(endpoint=hub.url, token=TOKEN)
    api.create_repo(REPO, repo_type="dataset")
    return api


def commit(api: HfApi, files: dict[str, bytes], parent: str | None = None) -> str:
    additions = [CommitOperationAdd(path, content) for path, content in files.items()]
    return api.create_commit(REPO, additions, commit_message="files", repo_type="dataset", parent_commit=parent).oid


def test_who_and_repositories(hub: LoopbackHub, api: HfApi) -> None:
    assert api.whoami()["name"] == "me"
    api.create_repo(REPO, repo_type="dataset", exist_ok=True)
    with pytest.raises(HfHubHTTPError, match="409"):
        api.create_repo(REPO, repo_type="dataset")
    assert [file.path for file in api.list_repo_tree(REPO, repo_type="dataset")] == [".gitattributes"]
    with pytest.raises(RepositoryNotFoundError):
        api.dataset_info("me/other")


def test_small_and_large_files_by_commit(hub: LoopbackHub, api: HfApi) -> None:
    first = commit(api, {"README.md": b"---\na: 1\n---\n", "a/x.parquet": LARGE})
    with pytest.warns(UserWarning, match="missing yaml"):
        second = commit(api, {"README.md": b"two\n"}, parent=first)
    tree = {file.path: file for file in api.list_repo_tree(REPO, recursive=True, repo_type="dataset")}
    assert tree["a/x.parquet"].lfs.sha256 == hashlib.sha256(LARGE).hexdigest()
    assert tree["README.md"].lfs is None
    # what `git hash-object` prints for a file that holds "two" and a line break
    assert tree["README.md"].blob_id == "f719efd430d52bcfc8566a43b2eb655688d38871"
    assert {path for path, file in tree.items() if not hasattr(file, "size")} == {"a"}
    texts = [
        Path(api.hf_hub_download(REPO, "README.md", revision=oid, repo_type="dataset")).read_text()
        for oid in (first, second, "main")
    ]
    assert texts == ["---\na: 1\n---\n", "two\n", "two\n"]
    assert api.file_exists(REPO, "a/x.parquet", repo_type="dataset")
    with pytest.raises(EntryNotFoundError):
        api.hf_hub_download(REPO, "none.md", repo_type="dataset")


def test_a_card_whose_yaml_does_not_parse_is_refused(hub: LoopbackHub, api: HfApi) -> None:
    with pytest.raises(ValueError, match="Invalid metadata"):
        commit(api, {"README.md": b"---\na: [1\n---\n"})


def test_a_commit_on_an_old_parent_is_refused(hub: LoopbackHub, api: HfApi) -> None:
    first = commit(api, {"a.txt": b"1"})
    commit(api, {"b.txt": b"2"}, parent=first)
    with pytest.raises(HfHubHTTPError, match="412"):
        commit(api, {"c.txt": b"3"}, parent=first)


def test_deletions_and_commits_that_change_nothing(hub: LoopbackHub, api: HfApi) -> None:
    first = commit(api, {"a.txt": b"1", "b/c.txt": b"2", "b/d.txt": b"3"})
    assert commit(api, {"a.txt": b"1"}) == first
    deletions = [CommitOperationDelete("a.txt"), CommitOperationDelete("b/")]
    api.create_commit(REPO, deletions, commit_message="delete", repo_type="dataset")
    assert api.list_repo_files(REPO, repo_type="dataset") == [".gitattributes"]


def test_large_files_are_sent_once_and_in_parts(hub: LoopbackHub, api: HfApi) -> None:
    hub.part_size = 3000
    commit(api, {"x.parquet": LARGE})
    assert hub.count("PUT", "/large") == 4
    commit(api, {"y.parquet": LARGE})
    assert hub.count("PUT", "/large") == 4
    assert HfFileSystem(endpoint=hub.url, token=TOKEN).cat_file(f"datasets/{REPO}/y.parquet") == LARGE


def test_tags(hub: LoopbackHub, api: HfApi) -> None:
    first = commit(api, {"a.txt": b"1"})
    api.create_tag(REPO, tag="v1.0.0", revision=first, repo_type="dataset")
    commit(api, {"a.txt": b"2"})
    assert {tag.name: tag.target_commit for tag in api.list_repo_refs(REPO, repo_type="dataset").tags} == {
        "v1.0.0": first
    }
    assert api.dataset_info(REPO, revision="v1.0.0").sha == first
    with pytest.raises(HfHubHTTPError, match="409"):
        api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    api.delete_tag(REPO, tag="v1.0.0", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(REPO, revision="v1.0.0")


def test_ranges_and_folders(hub: LoopbackHub, api: HfApi) -> None:
    commit(api, {"a/x.parquet": LARGE})
    files = HfFileSystem(endpoint=hub.url, token=TOKEN)
    assert files.ls(f"datasets/{REPO}", detail=False) == [f"datasets/{REPO}/{name}" for name in (".gitattributes", "a")]
    with files.open(f"datasets/{REPO}/a/x.parquet", cache_type="none") as file:
        file.seek(255)
        assert file.read(2) == b"\xff\x00"
    asked = [request.headers["range"] for request in hub.requests if "range" in request.headers]
    assert asked == ["bytes=255-256"]
    assert files.glob(f"datasets/{REPO}/a/*.parquet") == [f"datasets/{REPO}/a/x.parquet"]


def test_long_listings_come_in_pages(hub: LoopbackHub, api: HfApi) -> None:
    hub.page_size = 3
    commit(api, {f"{n}.txt": b"x" for n in range(8)})
    assert len(list(api.list_repo_tree(REPO, repo_type="dataset"))) == 9
    assert hub.count("GET", f"/api/datasets/{REPO}/tree") == 3


def test_a_snapshot_of_a_tag(hub: LoopbackHub, api: HfApi) -> None:
    first = commit(api, {"a.txt": b"1", "b/x.parquet": LARGE})
    api.create_tag(REPO, tag="v1.0.0", revision=first, repo_type="dataset")
    commit(api, {"a.txt": b"2"})
    folder = Path(snapshot_download(REPO, repo_type="dataset", revision="v1.0.0"))
    assert (folder / "a.txt").read_bytes() == b"1"
    assert (folder / "b/x.parquet").read_bytes() == LARGE


def test_tokens(hub: LoopbackHub, api: HfApi) -> None:
    with pytest.raises(HfHubHTTPError, match="401"):
        HfApi(endpoint=hub.url, token="hf_wrong").dataset_info(REPO)
    with pytest.raises(HfHubHTTPError, match="403"):
        HfApi(endpoint=hub.url, token=READER).create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="401"):
        HfApi(endpoint=hub.url, token=False).create_repo("me/more", repo_type="dataset")
    api.create_repo("me/secret", repo_type="dataset", private=True)
    assert HfApi(endpoint=hub.url, token=READER).dataset_info("me/secret").private
    with pytest.raises(RepositoryNotFoundError):
        HfApi(endpoint=hub.url, token=False).dataset_info("me/secret")
    assert not any(TOKEN in str(request) or READER in str(request) for request in hub.requests)


def test_ordered_faults(hub: LoopbackHub, api: HfApi) -> None:
    hub.fault("GET .*/revision/main$", status=503)
    with pytest.raises(HfHubHTTPError, match="503"):
        api.dataset_info(REPO, revision="main")
    assert api.dataset_info(REPO, revision="main").sha
    # the client itself goes on after these
    hub.fault("PUT /large", status=500)
    hub.fault("PUT /large", drop="request")
    hub.fault("PUT /large", drop="answer")
    commit(api, {"x.parquet": LARGE})
    hub.fault("GET .*/resolve/main/x.parquet", drop="body")
    assert Path(api.hf_hub_download(REPO, "x.parquet", repo_type="dataset")).read_bytes() == LARGE
    moved: list[str] = []
    hub.fault("POST .*/commit/", hook=lambda: moved.append(hub.state.repos[REPO].write("other.txt", b"o").oid))
    with pytest.raises(HfHubHTTPError, match="412"):
        commit(api, {"y.txt": b"y"}, parent=api.dataset_info(REPO).sha)
    assert api.dataset_info(REPO).sha == moved[0]
