"""A dataset read by DuckDB, against the same files read by pyarrow."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.errors import SetupError
from builders.schema import INSTANCES
from builders.views import connect
from tests.manifests import write_manifest


def row(id: str, passages: list[dict[str, Any]], answers: list[str], flags: list[str]) -> dict[str, Any]:
    shared = {"context_id": id, "task": "nq", "query": f"query {id}", "hops": 1, "reasoning_types": []}
    numbers = {"gold": [0] if passages else [], "n_tokens": 9, "confounding_ratio": 0.5}
    return {"id": id, "passages": passages, "answers": answers, "flags": flags, **shared, **numbers}


def passage(pid: str, role: str, **found: Any) -> dict[str, Any]:
    return {
        "pid": pid,
        "title": "T",
        "text": "Text",
        "role": role,
        "retrievers": [],
        "rank": None,
        "score": None,
    } | found


ROWS = [
    row("a", [passage("1:0", "gold"), passage("2:0", "confounder", retrievers=["bm25"], rank=3, score=1.5)], ["x"], []),
    row("b", [], [], ["underfull"]),
    row("c", [passage("3:0", "gold")], ["y", "z"], []),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files: the first has only empty and null values where the second has real ones."""
    (tmp_path / "1k_p50").mkdir()
    for number, part in enumerate(([ROWS[1]], [ROWS[0], ROWS[2]])):
        path = f"1k_p50/test-{number:05d}-of-00002.parquet"
        pq.write_table(pa.Table.from_pylist(part, schema=INSTANCES), tmp_path / path)
    write_manifest(tmp_path)
    return tmp_path


def test_a_file_of_empty_lists_and_nulls_joins_the_others(folder: Path) -> None:
    """No column has the type null, in either order."""
    found = connect(folder).execute('SELECT id, answers, flags FROM "1k_p50" ORDER BY id').fetchall()
    assert found == [("a", ["x"], []), ("b", [], ["underfull"]), ("c", ["y", "z"], [])]
    other = sorted(folder.glob("1k_p50/*.parquet"), reverse=True)
    assert sorted(pa.concat_tables(map(pq.read_table, other)).column("id").to_pylist()) == ["a", "b", "c"]


def test_nested_values_are_those_of_pyarrow(folder: Path) -> None:
    """Nested values."""
    found = dict(connect(folder).execute('SELECT id, passages FROM "1k_p50"').fetchall())
    assert found == {r["id"]: r["passages"] for r in ROWS}


def test_a_row_without_passages_keeps_its_line(folder: Path) -> None:
    """Unnest alone would lose it."""
    found = (
        connect(folder)
        .execute('SELECT id, position, pid, is_gold, rank FROM "1k_p50_passages" ORDER BY ALL')
        .fetchall()
    )
    assert found == [
        ("a", 0, "1:0", True, None),
        ("a", 1, "2:0", False, 3),
        ("b", None, None, False, None),
        ("c", 0, "3:0", True, None),
    ]


def test_all_configs_names_config_and_split(folder: Path) -> None:
    found = connect(folder).execute("SELECT DISTINCT config, split FROM all_configs").fetchall()
    assert found == [("1k_p50", "test")]


def test_a_missing_file_is_named(folder: Path) -> None:
    """No data_dir and no missing file."""
    (folder / "1k_p50/test-00001-of-00002.parquet").unlink()
    with pytest.raises(SetupError, match=r"test-00001-of-00002\.parquet is missing"):
        connect(folder)
