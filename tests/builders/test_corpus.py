from pathlib import Path

import pytest

from builders.schema import Page
from tests.builders.small_corpus import small_corpus

PAGES = [
    Page("10", "Ten", ["Ten", "One two three.", "Four five six."], [("ten", "Ten")]),
    Page("2", "Two", ["Two"], []),
    Page("9#1", "Nine", ["Nine", "Seven."], []),
]


def test_rows_ids_and_pages_find_each_other(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, PAGES, words=3)
    assert len(corpus) == 3
    assert corpus.pids(range(3)) == ["10:0", "10:1", "9#1:0"]
    assert [corpus.row_of(pid) for pid in ("10:0", "10:1", "9#1:0")] == [0, 1, 2]
    assert [corpus.passage(row).text for row in range(3)] == ["One two three.", "Four five six.", "Seven."]
    assert corpus.rows_of_page("10") == range(0, 2)
    assert corpus.rows_of_page("2") == range(2, 2)
    assert corpus.page_at(2).title == "Nine"
    assert corpus.page_at(0).anchors == [("ten", "Ten")]


@pytest.mark.parametrize("pid", ["10:2", "2:0", "11:0", "10", "10:-1", "10:x", ":0", ""])
def test_an_id_that_is_not_there(tmp_path: Path, pid: str) -> None:
    assert small_corpus(tmp_path, PAGES, words=3).row_of(pid) is None


def test_spans_are_those_of_the_page(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, PAGES, words=3)
    assert corpus.spans(corpus.rows_of_page("10")) == [(1, 0, 1, 14), (2, 0, 2, 14)]
    assert corpus.spans(corpus.rows_of_page("9#1")) == [(1, 0, 1, 6)]


def test_a_page_id_that_stands_twice_is_named(tmp_path: Path) -> None:
    """An id twice."""
    with pytest.raises(ValueError, match=r"\['2'\]"):
        small_corpus(tmp_path, [*PAGES, Page("2", "Again", ["Again", "x."], [])])
