"""Haystacks of needles: properties for every seed, text and length."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rich.console import Console

from builders.pipeline import run_build
from builders.prompts import haystack
from builders.synthetic.needles import KIND, NeedlesRecipe, place_of
from builders.tokens import token_counter
from builders.views import connect
from tests.builders.synthetic.haystack_texts import GROUPS, recipe_of, write_groups, write_texts
from tests.builders.synthetic.small import made_rows
from validation.checks import CHECKS
from validation.dataset import read_dataset
from validation.suite import run_suite

COUNTER = token_counter("smollm2")
BARRED = {
    "landmark": {"character", "Lisbon", "Tove", "lives", "right", "Belém", "Tower", "flat", "heart"},
    "diet": {"character", "dairy", "Bertil", "sleeps", "badly", "spoonful", "yoghurt", "sleepless", "night", "little"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("hay")
    write_texts(here / "texts")
    write_groups(here / "groups.yaml")
    return here


def made(folder: Path, **changes: Any) -> tuple[dict[str, list[dict[str, Any]]], Counter[str]]:
    """The rows of each config, and what was counted."""
    recipe = NeedlesRecipe.model_validate(recipe_of(**changes))
    paths = {place: folder / (source.path or "") for place, source in KIND.sources(recipe, folder).items()}
    found, counts = made_rows(recipe, paths)
    rows: dict[str, list[dict[str, Any]]] = {config: [] for config in recipe.configs}
    for config, split, row in found:
        assert split == "test"
        rows[config].append(row)
    return rows, counts


def fillers(row: dict[str, Any]) -> list[tuple[str, str]]:
    """The passages of a row except the needle."""
    return [(passage["pid"], passage["text"]) for passage in row["passages"] if passage["role"] == "random"]


def text_of(row: dict[str, Any]) -> str:
    return haystack(passage["text"] for passage in row["passages"])


@settings(max_examples=8)
@given(
    seed=st.text("abc", min_size=1, max_size=3),
    lengths=st.sampled_from([[128], [256, 100], [96, 128, 200]]),
    depths=st.lists(st.integers(0, 100), min_size=1, max_size=4, unique=True),
    fragment=st.integers(24, 60),
)
def test_what_holds_for_every_recipe(
    folder: Path, seed: str, lengths: list[int], depths: list[int], fragment: int
) -> None:
    rows, counts = made(folder, seed=seed, lengths=lengths, depths=depths, fragment=fragment)
    per_group = 4 * len(depths) + 2
    assert sum(map(len, rows.values())) + counts["too_few_fragments"] == per_group * len(GROUPS) * len(lengths)
    for config, found in rows.items():
        length = int(config.removeprefix("needles_"))
        for category in GROUPS:
            mine = [row for row in found if row["task"] == category]
            if mine:
                assert len(mine) == per_group
                check_group(mine, length, fragment)
        for row in found:
            check_row(row, length, fragment)


def check_row(row: dict[str, Any], length: int, fragment: int) -> None:
    """One row: tokens, gold, depth, and no word of its group outside its needle."""
    assert row["n_tokens"] == COUNTER.count(text_of(row)) <= length
    (group,) = GROUPS[row["task"]].values()
    assert row["answers"] == [group["name"]]  # not the whole needle
    assert row["query"] == group["question"]
    gold = [row["passages"][at] for at in row["gold"]]
    assert row["kind"] == "needle"
    if row["depth"] is None:
        assert (gold, row["reasoning_types"]) == ([], [])
    else:
        needle, order = row["reasoning_types"]
        assert row["id"] == f"{row['question_id']}-{needle}-{order}-{row['depth']}"
        assert [passage["text"] for passage in gold] == [group[needle][order]]
        tokens = [COUNTER.count(text) for _, text in fillers(row)]
        asked = row["depth"] / 100 * sum(tokens)
        assert abs(sum(tokens[: row["gold"][0]]) - asked) <= max(tokens) / 2 <= fragment / 2
    pids = [pid for pid, _ in fillers(row)]
    assert len(set(pids)) == len(pids)
    words = {word.strip(".,").lower() for _, text in fillers(row) for word in text.split()}
    assert not words & {word.lower() for word in BARRED[row["task"]]}
    assert {passage["title"] for passage in row["passages"]} == {""}


def check_group(rows: list[dict[str, Any]], length: int, fragment: int) -> None:
    """All rows of a group: one haystack for all needles and depths, controls of its length that share none of it."""
    planted = [row for row in rows if row["gold"]]
    controls = [row for row in rows if not row["gold"]]
    assert len({tuple(fillers(row)) for row in planted}) == 1
    streams = [set(fillers(planted[0])), *(set(fillers(row)) for row in controls)]
    assert sum(map(len, streams)) == len(set().union(*streams))
    longest = max(row["n_tokens"] for row in planted)
    assert all(0.9 * length <= row["n_tokens"] <= longest for row in controls)
    assert longest >= 0.9 * length


def test_a_shorter_haystack_begins_the_longer_one(folder: Path) -> None:
    rows, _ = made(folder, lengths=[100, 256, 128])
    short, middle, long = ({row["id"]: fillers(row) for row in rows[f"needles_{n}"]} for n in (100, 128, 256))
    for id, found in short.items():
        assert middle[id][: len(found)] == found
        assert long[id][: len(middle[id])] == middle[id]


def test_the_same_seed_gives_the_same_rows_and_another_seed_others(folder: Path) -> None:
    one, two, other = (made(folder, seed=seed)[0] for seed in ("v1", "v1", "v2"))
    assert one == two
    assert [fillers(row) for row in one["needles_128"]] != [fillers(row) for row in other["needles_128"]]


def test_a_group_does_not_depend_on_the_others(folder: Path, tmp_path: Path) -> None:
    write_groups(tmp_path / "groups.yaml", {"diet": GROUPS["diet"]})
    (tmp_path / "texts").symlink_to(folder / "texts")
    rows, _ = made(folder)
    assert [row for row in rows["needles_256"] if row["task"] == "diet"] == made(tmp_path)[0]["needles_256"]


def test_tokens_are_those_of_the_whole_text(folder: Path, tokenizer: Any) -> None:
    """No special token of each piece is counted. Against the tokenizer's own library."""
    for row in made(folder)[0]["needles_256"][::5]:
        assert row["n_tokens"] == len(tokenizer(text_of(row), add_special_tokens=False)["input_ids"])


def test_a_pool_that_is_too_small_is_counted(folder: Path, tmp_path: Path) -> None:
    write_groups(tmp_path / "groups.yaml")
    write_texts(tmp_path / "texts", paragraphs=60)
    rows, counts = made(tmp_path, lengths=[128, 2048])
    assert len(rows["needles_128"]) == 2 * (4 * 3 + 2)
    assert rows["needles_2048"] == []
    assert counts["too_few_fragments"] == 2 * (4 * 3 + 2)


def test_limit_takes_the_first_groups_of_each_category(tmp_path: Path) -> None:
    again = GROUPS["diet"]["dairy"] | {"name": "Ole", "question": "Which character avoids dairy?"}
    for needle in ("one_hop", "literal"):
        again[needle] = {order: text.replace("Bertil", "Ole") for order, text in again[needle].items()}
    write_groups(tmp_path / "groups.yaml", GROUPS | {"diet": GROUPS["diet"] | {"more": again}})
    write_texts(tmp_path / "texts")
    assert len(made(tmp_path)[0]["needles_128"]) == 3 * 14
    rows = made(tmp_path, limit=1)[0]["needles_128"]
    assert {row["query"] for row in rows} == {
        GROUPS["landmark"]["lisbon"]["question"],
        GROUPS["diet"]["dairy"]["question"],
    }


@pytest.mark.parametrize(
    ("depth", "tokens", "place"),
    [
        (0, [10, 10, 10], 0),
        (100, [10, 10, 10], 3),
        (50, [10, 10, 10], 1),  # 15 lies between 10 and 20; the first of two that are equally near
        (44, [30, 5, 5], 1),  # 17.6 is nearer to 30 than to 0
        (30, [30, 5, 5], 0),  # 12 is nearer to 0
    ],
)
def test_the_place_is_the_nearest_to_the_depth(depth: int, tokens: list[int], place: int) -> None:
    assert place_of(depth, tokens) == place


@pytest.mark.parametrize(
    "changes",
    [{"fragment": 250}, {"depths": [10, 10]}, {"depths": [101]}, {"lengths": [32]}, {"controls": 0}, {"width": 3}],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NeedlesRecipe.model_validate(recipe_of(**changes))


def test_a_built_dataset_passes_every_check(folder: Path, tmp_path: Path) -> None:
    recipe = NeedlesRecipe.model_validate(recipe_of())
    run_build(recipe, folder, tmp_path / "out", tmp_path / "work", 1, Console(quiet=True))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert list(manifest["inputs"]) == ["groups", "knowledge.one", "knowledge.two"]
    outcomes = run_suite(read_dataset(tmp_path / "out"), list(CHECKS), lambda step: None)
    assert {one.check.name: one.ids[:2] for one in outcomes if one.status != "passed"} == {}
    means = connect(tmp_path / "out").execute("SELECT config, avg(n_tokens) FROM all_configs GROUP BY 1").fetchall()
    assert all(0.9 * int(config.removeprefix("needles_")) < mean for config, mean in means)


@pytest.mark.slow
def test_the_bundled_recipe_fills_its_lengths_with_introductions(tmp_path: Path) -> None:
    from builders.load_recipe import load_recipe

    recipe, base = load_recipe("needles", ["lengths=[128, 1k]"], 1)
    run_build(recipe, base, tmp_path / "out", tmp_path / "work", 1, Console(quiet=True))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    rows = {config: about["files"]["test"][0]["rows"] for config, about in manifest["configs"].items()}
    assert rows == {"needles_128": 10 * 44, "needles_1k": 10 * 44}
    assert manifest["counts"]["fragments"]["fragments"] == 25_928
    assert "too_few_fragments" not in manifest["counts"].get("rows", {})
    assert manifest["inputs"]["groups"]["file"] == "needles.yaml"
