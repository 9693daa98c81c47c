from dataclasses import replace
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.protocols.oncu.fields import values_of
from eval_harness.protocols.oncu.groups import groups_of, labels_of
from eval_harness.protocols.oncu.matched import FULL
from tests.eval_harness.conftest import instance, write_config
from tests.eval_harness.protocols.oncu.twelve import TWELVE, matched_of, row_of, rows_of
from tests.manifests import write_manifest_2


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """The twelve as instances with depths, hops and reasoning types; those of fever have none."""
    folder = tmp_path / "data"
    rows = []
    for at, one in enumerate(TWELVE):
        row = instance(one.id, one.task, f"question {at}", ["x"], [0], ["text"])
        of_nq = {"flags": ["short_pool", "underfull"][: at % 3], "hops": at % 2 + 1, "reasoning_types": ["a", "b"]}
        rows.append(row | (of_nq if one.task == "nq" else {"flags": [], "reasoning_types": []}))
    write_config(folder, "1k_p0", rows)
    write_manifest_2(folder)
    return folder


def group(tmp_path: Path, dataset: Path, by: str) -> dict[str, list[str]]:
    labels = labels_of(dataset, ["1k_p0"], "test", by)
    return groups_of(matched_of(tmp_path / "run", rows_of()), by, labels)


def test_depths_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    at = {one.id: n % 3 * 50 for n, one in enumerate(TWELVE) if one.task == "nq"}
    rows = [replace(row, depth=at.get(row.id)) for row in rows_of()]
    assert groups_of(matched_of(tmp_path / "run", rows), "depth", {}) == {
        "depth_0": ["nq-1", "nq-4", "nq-7"],
        "depth_50": ["nq-2", "nq-5", "nq-8"],
        "depth_100": ["nq-3", "nq-6"],
        "no depth": ["fever-1", "fever-2", "fever-3", "fever-4"],
    }


def test_instances_with_a_flag_and_those_without(tmp_path: Path, dataset: Path) -> None:
    found = group(tmp_path, dataset, "underfull")
    assert {name: len(ids) for name, ids in found.items()} == {"no underfull": 10, "underfull": 2}
    assert found["underfull"] == ["nq-3", "nq-6"]


def test_columns_and_an_instance_in_several_groups(tmp_path: Path, dataset: Path) -> None:
    hops = group(tmp_path, dataset, "hops")
    assert (hops["1"], list(hops)) == (["nq-1", "nq-3", "nq-5", "nq-7"], ["1", "2", "none"])
    labels = labels_of(dataset, ["1k_p0"], "test", "reasoning_types")
    types = groups_of(matched_of(tmp_path / "other", rows_of()), "reasoning_types", labels)
    assert {name: len(ids) for name, ids in types.items()} == {"a": 8, "b": 8, "none": 4}


def test_a_grouping_that_is_none_names_those_that_are(dataset: Path) -> None:
    with pytest.raises(
        SetupError,
        match=r"no column and no flag 'dept' to group by; available: task, .* depth, .* short_pool, underfull",
    ):
        labels_of(dataset, ["1k_p0"], "test", "dept")


def test_the_headline_is_that_of_the_language() -> None:
    """A result names its headline; one of an earlier version does not, and has the scorer's."""
    row = row_of("nq-1", FULL, 1.0)
    scored = {**row.scores, "subspan_em": 0.0}
    names = ("headline", "headline_strict")
    assert [values_of(replace(row, scores=scored))[name] for name in names] == [0.0, 1.0]
    thai = replace(row, scores=scored, headline="subspan_em_strict")
    assert [values_of(thai)[name] for name in names] == [1.0, 1.0]
