from hypothesis import given
from hypothesis import strategies as st

from builders.pool import round_robin
from builders.retrieve.base import Hit
from builders.schema import Found


def hits(*rows: int) -> list[Hit]:
    return [Hit(row, 10.0 - rank) for rank, row in enumerate(rows, start=1)]


def test_round_robin_by_hand() -> None:
    pool = round_robin({"bm25": hits(1, 2, 3), "dpr": hits(2, 4), "tfidf": hits(5)})
    assert pool == [
        Found(1, "confounder", ("bm25",), 1, 9.0),
        Found(2, "confounder", ("dpr", "bm25"), 1, 9.0),
        Found(5, "confounder", ("tfidf",), 1, 9.0),
        Found(4, "confounder", ("dpr",), 2, 8.0),
        Found(3, "confounder", ("bm25",), 3, 7.0),
    ]


def test_one_question_bars_nothing_for_the_next() -> None:
    """No question changes another's row."""
    assert [p.row for p in round_robin({"bm25": hits(1, 2, 3)})] == [1, 2, 3]
    assert [p.row for p in round_robin({"bm25": hits(2, 1, 9)})] == [2, 1, 9]


def test_no_runs() -> None:
    assert round_robin({}) == round_robin({"bm25": []}) == []


@given(st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), max_size=4))
def test_every_passage_once_with_all_who_found_it(lists: list[list[int]]) -> None:
    pool = round_robin({f"r{n}": hits(*rows) for n, rows in enumerate(lists)})
    assert sorted(p.row for p in pool) == sorted({row for rows in lists for row in rows})
    assert [p.rank for p in pool] == sorted(p.rank for p in pool)
    for passage in pool:
        assert sorted(passage.retrievers) == [f"r{n}" for n, rows in enumerate(lists) if passage.row in rows]
        assert passage.rank == min(rows.index(passage.row) + 1 for rows in lists if passage.row in rows)
