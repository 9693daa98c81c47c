import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.errors import SetupError
from builders.retrieve.base import Hit, Query, best, in_threads, page_hits, ranked_hits, run_table, searchable
from builders.schema import RUN
from tests.builders.retrieve.indexed import indexed
from tests.builders.small_corpus import page, small_corpus


@given(st.lists(st.sampled_from([0.0, 0.5, 0.50001, 1.0, 1.00004, 2.0]), max_size=30), st.integers(1, 12))
def test_best_is_the_head_of_the_full_order(scores: list[float], k: int) -> None:
    want = sorted(range(len(scores)), key=lambda i: (-round(scores[i], 4), i))[:k]
    at, rounded = best(np.array(scores), k)
    assert at.tolist() == want
    assert rounded.tolist() == [round(scores[i], 4) for i in want]


def test_best_leaves_out_what_is_not_above_the_floor() -> None:
    assert best(np.array([0.0, 1.0, -1.0]), 3, floor=0.0)[0].tolist() == [1]


def test_ranked_hits_keep_a_passage_once_and_order_ties_by_row() -> None:
    found = ranked_hits([Hit(7, 1.00001), Hit(3, 1.0), Hit(7, 2.0), Hit(9, 0.5)])
    assert found == [Hit(7, 2.0), Hit(3, 1.0), Hit(9, 0.5)]


def test_run_table_ranks_cuts_and_logs_a_query_without_hits(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing found is logged."""
    corpus = small_corpus(tmp_path, [page(str(n), f"T{n}", "word") for n in range(3)])
    queries = [Query("a", "word"), Query("b", "??")]
    with caplog.at_level(logging.INFO):
        run = run_table(corpus, queries, [[Hit(2, 1.0), Hit(0, 1.0), Hit(1, 3.0)], []], k=2)
    assert run.schema == RUN
    assert run.to_pylist() == [
        {"qid": "a", "pid": "1:0", "row": 1, "score": 3.0, "rank": 1},
        {"qid": "a", "pid": "0:0", "row": 0, "score": 1.0, "rank": 2},
    ]
    assert "query b" in caplog.text


def test_page_hits_are_all_passages_of_the_pages(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, [page("a", "A", "one."), page("b", "B", "two. " * 30)], words=20)
    assert page_hits(corpus, [(1, 2.5)]) == [Hit(1, 2.5), Hit(2, 2.5)]


def test_searchable_is_title_and_text(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, [page("a", "A title", "Some text.")])
    _, batch = next(corpus.batches())
    assert searchable(batch).to_pylist() == ["A title Some text."]


@pytest.mark.parametrize("threads", [1, 3])
def test_in_threads_keeps_the_order_of_the_queries(threads: int) -> None:
    queries = [Query(str(n), "") for n in range(500)]
    found = in_threads(lambda some: [[Hit(int(q.qid), 1.0)] for q in some], queries, threads)
    assert [hits[0].row for hits in found] == list(range(500))


@pytest.mark.parametrize("kind", ["bm25", "bm25s", "tfidf", "dense", "entity"])
def test_an_unknown_option_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(SetupError, match=f"a {kind} retriever has no option K1"):
        indexed(tmp_path, [page("1", "T", "text")], kind, model="bundled:minilm", options={"K1": 1.0})
