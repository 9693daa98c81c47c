"""Publishing under failures: errors, lost connections, concurrent commits, interrupted runs."""

from pathlib import Path

import pytest
from huggingface_hub import HfApi
from rich.console import Console

from builders.errors import SetupError
from dataset_cards.hub import Repository, Unreachable
from dataset_cards.publish import Published
from dataset_cards.publish import publish as publish_release
from dataset_cards.release import checked_release
from tests.dataset_cards.cards import join_card, split_card
from tests.dataset_cards.publishing import REPO, files_of, on_hub, publish, repository
from tests.dataset_cards.ready import only
from tests.hub.clients import READER, TOKEN
from tests.hub.server import LoopbackHub


def test_stopped_before_the_tag(dataset: Path, hub: LoopbackHub) -> None:
    """The commit exists, so only the tag is created."""
    first = publish(dataset, hub)
    repo = hub.state.repos[REPO]
    repo.tags.clear()
    assert publish(dataset, hub) == Published(first.commit, new_commit=False, new_tag=True)
    assert repo.tags == {"v1.0.0": first.commit}


TROUBLES = [
    ("POST .*/commit/", {"status": 500}),
    ("POST .*/commit/", {"status": 503, "times": 4}),
    ("POST .*/commit/", {"drop": "request"}),
    ("POST .*/commit/", {"drop": "answer"}),
    ("POST .*/tag/", {"status": 500}),
    ("POST .*/tag/", {"drop": "answer"}),
    ("PUT /large", {"status": 500, "times": 5}),
    ("PUT /large", {"drop": "request", "times": 3}),
    ("PUT /large", {"drop": "answer", "times": 3}),
    ("PUT /large", {"delay": 0.2, "times": 5}),
    ("POST .*/verify", {"status": 502}),
    ("POST .*/batch", {"status": 503}),
    ("POST .*/preupload/", {"drop": "answer"}),
    ("POST /api/repos/create", {"drop": "answer"}),
    ("POST /api/validate-yaml", {"status": 500}),
    ("GET .*/refs", {"status": 429}),
    ("GET .*/tree/", {"drop": "body"}),
    ("GET .*/revision/main", {"status": 502, "times": 2}),
]


@pytest.mark.parametrize(("request_line", "trouble"), TROUBLES, ids=[f"{line} {trouble}" for line, trouble in TROUBLES])
def test_troubles_lose_nothing(request_line: str, trouble: dict, built: Path, hub: LoopbackHub) -> None:
    hub.fault(request_line, **trouble)
    done = publish(built, hub)
    repo = hub.state.repos[REPO]
    assert on_hub(repo) == files_of(built)
    assert repo.tags == {"v1.0.0": repo.head} == {"v1.0.0": done.commit}
    assert len(repo.commits) == 2


def test_a_commit_in_between_is_built_upon(built: Path, hub: LoopbackHub) -> None:
    repo = hub.state.create(REPO, private=False)
    hub.fault("POST .*/commit/", hook=lambda: repo.write("LICENSE", b"theirs"))
    publish(built, hub)
    assert on_hub(repo) == {**files_of(built), "LICENSE": b"theirs"}
    assert repo.at("v1.0.0").parent != repo.at("v1.0.0").oid


def test_a_file_changed_in_between_is_sent_again(built: Path, hub: LoopbackHub) -> None:
    """It was equal when first read, but not at the commit."""
    publish(built, hub)
    repo = hub.state.repos[REPO]
    repo.tags.clear()
    repo.write("1k_p0/test-00000-of-00001.parquet", b"other")
    path = "2k_p0/test-00000-of-00001.parquet"
    hub.fault("POST .*/commit/", hook=lambda: repo.write(path, b"other"))
    publish(built, hub)
    assert on_hub(repo) == files_of(built)


def test_a_config_added_in_between_is_kept(built: Path, dataset: Path, hub: LoopbackHub) -> None:
    """With both at once."""
    only(dataset, ["1k_p0"])
    other = (built / "2k_p0/test-00000-of-00001.parquet").read_bytes()
    repo = hub.state.create(REPO, private=False)

    def someone_else() -> None:
        repo.write("extra/test.parquet", other)
        entry = {"config_name": "extra", "data_files": [{"split": "test", "path": "extra/test.parquet"}]}
        repo.write("README.md", join_card({"configs": [entry]}, "").encode())

    hub.fault("POST .*/commit/", hook=someone_else)
    publish(dataset, hub)
    head = split_card(on_hub(repo)["README.md"].decode())[0]
    assert [config["config_name"] for config in head["configs"]] == ["1k_p0", "extra"]
    assert on_hub(repo)["extra/test.parquet"] == other


def test_a_hub_that_stays_away(built: Path, hub: LoopbackHub) -> None:
    hub.fault("POST .*/commit/", status=503, times=99)
    with pytest.raises(
        Unreachable, match=r"sending files and committing: the Hub does not answer .*503.* rerun the same command"
    ):
        publish(built, hub)
    repo = hub.state.repos[REPO]
    assert repo.tags == {}
    assert on_hub(repo) == {}
    sent = hub.count("PUT", "/large")
    hub.faults.clear()
    publish(built, hub)
    assert hub.count("PUT", "/large") == sent
    assert on_hub(repo) == files_of(built)


def test_an_address_without_a_hub(built: Path, hub: LoopbackHub) -> None:
    nowhere = Repository(HfApi(endpoint="http://127.0.0.1:9", token=TOKEN), REPO)
    with pytest.raises(Unreachable, match="creating me/icr2: the Hub does not answer"):
        publish_release(checked_release(built, None, Console(quiet=True)), nowhere, private=False)


@pytest.mark.parametrize(
    ("token", "says"),
    [("hf_unknown", "rejects the token .401.; set HF_TOKEN"), (READER, "lacks permission .403.; use one")],
)
def test_tokens_that_may_not(token: str, says: str, built: Path, hub: LoopbackHub) -> None:
    hub.fault("PUT /large", status=500, times=99)
    with pytest.raises(SetupError, match=says) as refusal:
        publish(built, hub, token=token)
    assert token not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_changed_after_the_check_is_not_committed(dataset: Path, hub: LoopbackHub) -> None:
    release = checked_release(dataset, None, Console(quiet=True))
    path = "1k_p0/test-00000-of-00001.parquet"
    (dataset / path).write_bytes(b"something else")
    with pytest.raises(SetupError, match=f"{path} was changed during the upload"):
        publish_release(release, repository(hub), private=False)
    assert on_hub(hub.state.repos[REPO]) == {}
