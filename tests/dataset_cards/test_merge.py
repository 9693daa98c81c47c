"""Configs of a repository that a build does not have stay in its card."""

import pytest

from builders.errors import SetupError
from dataset_cards.merge import kept_configs, merged_card
from tests.dataset_cards.cards import join_card, split_card

OURS = join_card(
    {
        "version": "1.10.0",
        "configs": [{"config_name": "fever", "data_files": [{"split": "test", "path": ["fever/test.parquet"]}]}],
        "dataset_info": [{"config_name": "fever", "splits": [{"name": "test", "num_examples": 3}]}],
    },
    "# ours\n\n---\n\nmore\n",
)
NQ = {"config_name": "nq", "data_files": [{"split": "test", "path": ["nq/test.parquet"]}]}
PATHS = ["README.md", "nq/test.parquet", "nq/train.parquet", "fever/test.parquet"]


def theirs(*configs: dict, **more: object) -> str:
    return join_card({"configs": list(configs), **more}, "# theirs\n")


def merge(card: str, paths: list[str] = PATHS) -> dict:
    return split_card(merged_card(OURS, kept_configs(card, ["fever"], paths, "me/icr2")))[0]


def test_both_are_listed() -> None:
    """Other configs stay."""
    card = theirs(NQ, {"config_name": "fever"}, dataset_info=[{"config_name": "nq", "x": 1}, {"config_name": "fever"}])
    head = merge(card)
    assert [config["config_name"] for config in head["configs"]] == ["fever", "nq"]
    assert head["configs"][1] == NQ
    infos = {info["config_name"]: info for info in head["dataset_info"]}
    assert infos == {
        "nq": {"config_name": "nq", "x": 1},
        "fever": {"config_name": "fever", "splits": [{"name": "test", "num_examples": 3}]},
    }
    assert head["version"] == "1.10.0"  # a string, not a number


def test_merging_what_was_merged_changes_nothing() -> None:
    once = merged_card(OURS, kept_configs(theirs({**NQ, "default": True}), ["fever"], PATHS, "me/icr2"))
    assert merged_card(OURS, kept_configs(once, ["fever"], PATHS, "me/icr2")) == once


def test_without_others_the_card_is_ours_to_the_byte() -> None:
    for card in ("", "# no head\n", OURS):
        assert merged_card(OURS, kept_configs(card, ["fever"], ["fever/test.parquet"], "me/icr2")) == OURS


def test_the_text_is_ours() -> None:
    merged = merged_card(OURS, kept_configs(theirs(NQ), ["fever"], PATHS, "me/icr2"))
    assert merged.endswith("---\n# ours\n\n---\n\nmore\n")


def test_one_default_at_most() -> None:
    """datasets refuses to load from a card with several."""
    ours = split_card(OURS)[0]
    ours["configs"][0]["default"] = True
    card = join_card(ours, "")

    def defaults(other: dict) -> list[str]:
        kept = kept_configs(theirs(other), ["fever"], PATHS, "me/icr2")
        return [c["config_name"] for c in split_card(merged_card(card, kept))[0]["configs"] if c.get("default")]

    assert defaults({**NQ, "default": True}) == ["fever"]
    assert defaults({**NQ, "config_name": "default"}) == []


def test_files_of_a_config_by_path_and_pattern() -> None:
    for path in ("nq/*.parquet", ["nq/test.parquet", "nq/train.parquet"], "nq/**"):
        for entries in (path, [{"split": "test", "path": path}], {"split": "test", "path": path}):
            kept = kept_configs(theirs({"config_name": "nq", "data_files": entries}), ["fever"], PATHS, "me/icr2")
            assert kept.files == {"nq": ["nq/test.parquet", "nq/train.parquet"]}


@pytest.mark.parametrize(
    ("card", "says"),
    [
        (theirs({"config_name": "nq", "data_dir": "nq"}), "config nq lists no data_files"),
        (theirs({**NQ, "data_files": "gone/*.parquet"}), "lists gone/\\*.parquet, which does not exist"),
        (theirs(NQ, NQ), "lists a config twice"),
        ("---\na: [1\n---\n", "does not parse"),
        ("# no head\n", "nq/test.parquet would no longer load"),
    ],
)
def test_what_would_be_lost_is_refused(card: str, says: str) -> None:
    with pytest.raises(SetupError, match=says):
        kept_configs(card, ["fever"], PATHS, "me/icr2")
