"""Contexts of invented facts: matched over depths and lengths, with the answer only in gold."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.load_recipe import load_recipe
from builders.prompts import block, render
from builders.synthetic.controlled import ControlledRecipe
from builders.text import contains
from builders.tokens import token_counter
from tests.builders.synthetic.small import build_controlled, made_rows

Rows = dict[str, dict[str, Any]]  # by id
SMALL = {"kind": "controlled", "name": "c", "tokenizer": "smollm2", "lengths": ["1k"], "take": {"test": 2}, "world": 60}


def made(**changes: Any) -> tuple[dict[str, Rows], Counter[str]]:
    """Rows by config and id."""
    found, counts = made_rows(ControlledRecipe.model_validate({**SMALL, **changes}), {})
    rows: dict[str, Rows] = defaultdict(dict)
    for config, _, row in found:
        assert row["id"] not in rows[config]
        rows[config][row["id"]] = row
    return rows, counts


def text(row: dict[str, Any]) -> list[tuple[str, str]]:
    return [(passage["title"], passage["text"]) for passage in row["passages"]]


def others(row: dict[str, Any]) -> list[str]:
    return [passage["pid"] for passage in row["passages"] if passage["role"] != "gold"]


recipes = st.fixed_dictionaries(
    {
        "lengths": st.lists(st.sampled_from(["512", "700", "1k", "1500"]), min_size=1, max_size=3, unique=True),
        "depths": st.lists(st.integers(0, 100), min_size=1, max_size=4, unique=True),
        "confounders": st.integers(0, 100),
        "take": st.sampled_from([{"test": 1}, {"test": 2, "train": 1}]),
        "seed": st.text("abc", min_size=1, max_size=2),
    }
)


@settings(max_examples=15)
@given(recipes)
def test_every_row(changes: dict[str, Any]) -> None:
    """Budget, roles, answers, depth and tokens, each found again from the row alone."""
    rows, _ = made(**changes)
    counter, recipe = token_counter("smollm2"), ControlledRecipe.model_validate({**SMALL, **changes})
    for length in recipe.lengths:
        config = rows[recipe.config(length)]
        assert len(config) == 2 * sum(recipe.take.values()) * len(recipe.depths)
        for row in config.values():
            assert row["n_tokens"] == counter.count(render(spec_of(row["task"]), row["query"], text(row)).text)
            assert row["n_tokens"] <= recipe.budget(length)
            gold = [row["passages"][at] for at in row["gold"]]
            assert len(gold) == row["hops"]
            assert any(contains(row["answers"][0], passage["text"]) for passage in gold)
            names = [*row["answers"], *(passage["title"] for passage in gold)]
            for passage in row["passages"]:
                if passage["role"] != "gold":
                    assert not [name for name in names if contains(name, f"{passage['title']} {passage['text']}")]
            roles = Counter(passage["role"] for passage in row["passages"])
            share = roles["confounder"] / (roles["confounder"] + roles["random"])
            assert row["confounding_ratio"] == pytest.approx(share)
            assert abs(share - recipe.confounders / 100) * (roles["confounder"] + roles["random"]) <= 0.5 + 1e-9
            at_depth(row, counter)


def at_depth(row: dict[str, Any], counter: Any) -> None:
    """The gold of the first hop is at the row's depth, the other half a context away: each within one passage."""
    sizes = [
        counter.count(block(at + 1, title, body)) * (at not in row["gold"])
        for at, (title, body) in enumerate(text(row))
    ]
    stated = row["depth"]
    assert row["id"] == f"{row['question_id']}-d{stated:03d}"
    # a chain's first fact is about what the query names
    golds = sorted(row["gold"], key=lambda at: not contains(row["passages"][at]["title"], row["query"]))
    for at, depth in zip(golds, (stated, (stated + 50) % 100), strict=False):
        assert abs(sum(sizes[:at]) - depth / 100 * sum(sizes)) <= max(sizes)


@settings(max_examples=8)
@given(recipes)
def test_only_gold_moves_and_shorter_is_part_of_longer(changes: dict[str, Any]) -> None:
    rows, _ = made(**{**changes, "lengths": ["600", "1k", "1500"]})
    for config in rows.values():
        same: dict[str, list[list[str]]] = defaultdict(list)
        for row in config.values():
            same[row["question_id"]].append(others(row))
        assert all(contexts.count(contexts[0]) == len(contexts) for contexts in same.values())
    for shorter, longer in (("controlled_600", "controlled_1k"), ("controlled_1k", "controlled_1500")):
        for id, row in rows[shorter].items():
            pids = [passage["pid"] for passage in row["passages"]]
            kept = [p["pid"] for p in rows[longer][id]["passages"] if p["pid"] in set(pids)]
            assert kept == pids


def test_depths_0_and_100_are_the_ends() -> None:
    rows, _ = made(depths=[0, 100])
    for row in rows["controlled_1k"].values():
        if row["hops"] == 1:
            assert row["gold"] == [0 if row["depth"] == 0 else len(row["passages"]) - 1]


def test_rows_do_not_depend_on_lengths_limit_or_order() -> None:
    """Neither other lengths nor other questions change a row."""
    rows, _ = made(lengths=["600", "1k"], take={"test": 3, "validation": 1})
    fewer, _ = made(lengths=["1k"], take={"test": 3}, limit=1)
    assert len(fewer["controlled_1k"]) == 2 * 11
    assert all(rows["controlled_1k"][id] == row for id, row in fewer["controlled_1k"].items())


def test_no_two_questions_are_about_one_cluster() -> None:
    rows, _ = made(take={"test": 12, "validation": 12}, depths=[50])
    golds = defaultdict(set)
    for row in rows["controlled_1k"].values():
        golds[row["question_id"]] |= {row["passages"][at]["pid"].rpartition("-")[0] for at in row["gold"]}
    assert [len(clusters) for clusters in golds.values()] == [1] * 48
    assert len(set().union(*golds.values())) == 48


def test_the_first_rows_are_of_different_questions_and_depths() -> None:
    rows, _ = made(take={"test": 5})
    first = [row for row in rows["controlled_1k"].values() if row["hops"] == 1][:5]
    assert len({row["question_id"] for row in first}) == len({row["depth"] for row in first}) == 5


def test_every_depth_as_often() -> None:
    """Gold is not always in one slot."""
    rows, counts = made(take={"test": 3})
    found = Counter((row["task"], row["depth"]) for row in rows["controlled_1k"].values())
    assert len(found) == 22 and set(found.values()) == {3}
    assert counts["controlled_1hop_questions"] == counts["controlled_2hop_questions"] == 3
    assert not any(reason.startswith("dropped_contains") for reason in counts)


def test_a_small_world_is_flagged_and_ends() -> None:
    """A pool that runs out."""
    rows, counts = made(lengths=["8k"], world=10, take={"test": 1}, depths=[50])
    assert {tuple(row["flags"]) for row in rows["controlled_8k"].values()} == {("short_pool", "underfull")}
    assert counts["underfull"] == 2
    for row in rows["controlled_8k"].values():
        assert len(set(others(row))) == len(others(row))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"depths": [10, 10]}, "repeat a depth"),
        ({"depths": [101]}, "depths"),
        ({"take": {"test": 31}}, "increase world"),
        ({"take": {}}, "take"),
        ({"take": {"dev": 3}}, "take"),
        ({"lengths": ["100"]}, "use 512 to 16m"),
        ({"depth": [1]}, "did you mean depths"),
    ],
)
def test_wrong_settings(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    (tmp_path / "r.yaml").write_text(yaml.safe_dump({**SMALL, **changes}))
    with pytest.raises(SetupError, match=says):
        load_recipe(str(tmp_path / "r.yaml"), [])


def test_the_same_bytes_for_the_same_seed_and_others_for_another(tmp_path: Path) -> None:
    """The same bytes again."""
    folders = {}
    for name, seed in (("one", "v1"), ("two", "v1"), ("other", "v2")):
        out = build_controlled(tmp_path, "lengths=[1k]", "take={test: 1}", f"seed={seed}", out=name)
        folders[name] = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert folders["one"] == folders["two"]
    parquet = "test-00000-of-00001.parquet"
    assert folders["one"][parquet] != folders["other"][parquet]
