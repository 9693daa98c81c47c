"""Statistics of rows written by hand, each number worked out on paper."""

import json
from pathlib import Path

import pytest

from builders.errors import SetupError
from dataset_cards.statistics import measure
from tests.dataset_cards.handmade import passage, row, write_dataset
from tests.dataset_cards.ready import only

A = row(
    "nq-a",
    [
        passage("1:0", "random"),
        passage("2:0", "gold"),
        passage("3:0", "confounder", "bm25"),
        passage("x:3:1", "confounder", "dense", "bm25"),
    ],
    query="who made\tit",
    answers=["12 May 1999", "1999"],
)
B = row(
    "nq-b",
    [passage("2:1", "gold"), passage("3:0", "confounder", "dense")],
    query="where",
    answers=["New York City"],
    n_tokens=200,
    flags=["underfull"],
)
C = row(
    "fever-c",
    [
        passage("5:0", "gold"),
        passage("5:1", "gold"),
        passage("3:0", "confounder", "bm25", "dense"),
        passage("6:0", "random"),
        passage("7:0", "random"),
    ],
    task="fever",
    query="It is so",
    answers=["SUPPORTS"],
    n_tokens=300,
    hops=2,
    reasoning_types=["bridge"],
    flags=["answer_filter_not_applicable"],
    context_id="nq-b",
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("hand")
    bare = row("nq-d", [], answers=[])
    return measure(write_dataset(folder, {"1k_p50": {"test": [A, B, C], "validation": [A | {"id": "nq-v"}, bare]}}))


def test_means_and_quantiles(measured: dict) -> None:
    group = measured["configs"]["1k_p50"]["test"]
    assert (group["rows"], group["contexts"]) == (3, 2)
    # 2, 4 and 5 passages: between neighbours the quantile is linear, at 0.05 x 2 and 0.95 x 2 steps
    assert group["passages"] == {"mean": 3.6667, "min": 2, "p5": 2.2, "median": 4, "p95": 4.9, "max": 5}
    assert group["tokens"] == {"mean": 200, "min": 100, "p5": 110, "median": 200, "p95": 290, "max": 300}
    assert group["gold"]["mean"] == 1.3333
    assert group["ratio"]["mean"] == 0.6667  # two thirds, one, and a third
    assert (group["answers"]["mean"], group["answers"]["max"]) == (1.3333, 2)
    assert (group["answer_words"]["mean"], group["query_words"]["mean"]) == (2.3333, 2.3333)
    assert group["tasks"]["fever"]["tokens"]["median"] == 300
    assert list(group["tasks"]) == ["nq", "fever"]


def test_counts(measured: dict) -> None:
    group = measured["configs"]["1k_p50"]["test"]
    assert group["answer_types"] == {"label": 1, "number_or_date": 1, "other": 1}
    assert group["hops"] == {"1": 2, "2": 1}
    assert group["reasoning_types"] == {"bridge": 1}
    assert group["flags"] == {"answer_filter_not_applicable": 1, "underfull": 1}
    assert group["tasks"]["nq"]["flags"] == {"underfull": 1}


def test_roles_and_retrievers(measured: dict) -> None:
    group = measured["configs"]["1k_p50"]["test"]
    assert group["roles"] == {"gold": 0.3636, "confounder": 0.3636, "random": 0.2727}  # 4, 4 and 3 of 11
    # found by bm25 alone 1, by dense alone 1, by both, in either order, 2
    assert group["retrievers"] == {
        "bm25": {"share": 0.75, "exclusive": 0.25},
        "dense": {"share": 0.75, "exclusive": 0.25},
    }
    assert group["overlap"] == [{"between": ["bm25", "dense"], "jaccard": 0.5}]
    assert group["tasks"]["fever"]["overlap"] == [{"between": ["bm25", "dense"], "jaccard": 1.0}]


def test_gold_tenths(measured: dict) -> None:
    # A: the second of 4 is [2.5, 5) tenths; B: the first of 2 is [0, 5); C: two of 5 are [0, 4)
    thirds = [0.2 + 0.5, 0.2 + 0.5, 0.2 + 0.5 + 0.2, 0.4 + 0.2 + 0.5, 0.4 + 0.2]
    want = [round(share / 4, 4) for share in thirds] + [0.0] * 5
    assert measured["configs"]["1k_p50"]["test"]["gold_tenths"] == want


@pytest.mark.parametrize("n", [1, 3, 7, 10, 23])
def test_gold_at_every_place_is_a_tenth_in_each_tenth(n: int, tmp_path: Path) -> None:
    rows = [
        row(f"nq-{at}", [passage(f"{place}:0", "gold" if place == at else "random") for place in range(n)])
        for at in range(n)
    ]
    found = measure(write_dataset(tmp_path, {"1k_p0": {"test": rows}}))
    assert found["configs"]["1k_p0"]["test"]["gold_tenths"] == [0.1] * 10
    assert found["configs"]["1k_p0"]["test"]["retrievers"] == {}


def test_a_row_with_empty_lists_counts(measured: dict) -> None:
    """It does not vanish from the means."""
    group = measured["configs"]["1k_p50"]["validation"]
    assert group["rows"] == 2
    assert (group["passages"]["mean"], group["gold"]["mean"], group["answers"]["mean"]) == (2, 0.5, 1)
    assert group["hops"] == {"1": 2}


def test_the_whole_dataset(measured: dict) -> None:
    whole = measured["dataset"]
    assert whole["rows"] == 5
    assert whole["queries"] == {"test": 3, "validation": 2}
    assert whole["distinct_passages"] == 9
    assert whole["distinct_pages"] == 7  # 1, 2, 3, x:3, 5, 6, 7: a page's id may hold a colon
    assert whole["counts"] == {"questions": {"read": 5, "dup_input": 2}}


def test_table_2(measured: dict) -> None:
    found = {(line["split"], line["task"]): line for line in measured["table_2"]}
    assert found["test", "nq"] == {
        "config": "1k_p50",
        "split": "test",
        "task": "nq",
        "rows": 2,
        "passages": 3,
        "tokens": 150,
        "gold": 1,
    }


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("yes", "yes_no"),
        ("No.", "yes_no"),
        ("refutes", "label"),
        ("NOT ENOUGH INFO", "label"),
        ("1,200", "number_or_date"),
        ("the 3rd of May", "number_or_date"),
        ("$5 million", "number_or_date"),
        ("seven", "other"),  # no digit
        ("May", "other"),
        ("Boeing 747", "other"),
        ("2012年8月", "number_or_date"),
        ("", "other"),
    ],
)
def test_answer_types(answer: str, kind: str, tmp_path: Path) -> None:
    stated = "label" if kind == "label" else "text"
    one = row("nq-a", [passage("1:0", "gold")], answers=[answer], answer_kind=stated)
    found = measure(write_dataset(tmp_path, {"1k_p0": {"test": [one]}}))
    assert found["configs"]["1k_p0"]["test"]["answer_types"] == {kind: 1}


def test_the_same_every_time(dataset: Path) -> None:
    only(dataset, ["2k_p75", "loft_2k"])
    steps: list[int] = []
    first = measure(dataset, lambda: steps.append(1))
    assert json.dumps(first) == json.dumps(measure(dataset))
    assert len(steps) == len(first["configs"])


@pytest.mark.parametrize(("column", "name"), [("confounding_ratio", "ratio"), ("n_tokens", "tokens")])
def test_a_column_without_values_is_named(column: str, name: str, tmp_path: Path) -> None:
    empty = row("nq-a", [passage("1:0", "gold")]) | {column: None}
    with pytest.raises(SetupError, match=f"1k_p0/test of by_hand has a task whose rows have no {name}"):
        measure(write_dataset(tmp_path, {"1k_p0": {"test": [empty]}}))


def test_a_missing_file_is_named(dataset: Path) -> None:
    (dataset / "1k_p0" / "test-00000-of-00001.parquet").unlink()
    with pytest.raises(SetupError, match="is missing, and the manifest lists it"):
        measure(dataset)
