import math
from pathlib import Path

import pytest

from tests.builders.retrieve.indexed import indexed, over, texts
from tests.builders.small_corpus import page, small_corpus

FIVE = texts("apple apple pear", "apple", "pear plum plum plum", "cherry", "fig fig")


def test_scores_are_lucenes_formula_by_hand(tmp_path: Path) -> None:
    """A term in few of few passages has a positive score."""
    found = indexed(tmp_path, FIVE, "bm25s", options={"k1": 1.2, "b": 0.75}).hits("apples")[0]
    # N = 5, df = 2; lengths with the title's one word: 4, 2, 5, 2, 3: average 3.2
    idf = math.log(1 + (5 - 2 + 0.5) / (2 + 0.5))
    want = [idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3.2)), idf * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3.2))]
    assert [hit.row for hit in found] == [0, 1]
    assert [hit.score for hit in found] == pytest.approx(want, abs=5.1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_ties_at_the_border_are_cut_in_corpus_order(tmp_path: Path, threads: int) -> None:
    """Far more passages tie at the border than are fetched beyond it."""
    pages = [page(str(n), "T", "word once" if n % 100 else "word word") for n in range(400)]
    made = indexed(tmp_path, pages, "bm25s", threads, k=10)
    assert made.rows("word") == [0, 100, 200, 300, 1, 2, 3, 4, 5, 6]


def test_ids_do_not_order_ties(tmp_path: Path) -> None:
    """Ties."""
    corpus = small_corpus(tmp_path, [page(i, "Same", "the very same words") for i in ("10", "2", "9#1")])
    assert [over(corpus, tmp_path, "bm25s", k=1).rows("same words") for _ in range(2)] == [[0], [0]]


def test_no_padding_comes_back(tmp_path: Path) -> None:
    """Passages that do not match at all are no hits, although fewer than k match."""
    assert indexed(tmp_path, FIVE, "bm25s", k=5).rows("plum") == [2]


def test_a_very_long_query(tmp_path: Path) -> None:
    """Any number of terms."""
    made = indexed(tmp_path, FIVE, "bm25s")
    assert made.rows(" ".join(f"w{n}x" for n in range(3000)) + " fig") == [4]


def test_blocks_of_passages_make_one_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus(tmp_path, FIVE)
    whole = over(corpus, tmp_path, "bm25s").hits("apple plum", "fig pear")
    monkeypatch.setattr("builders.retrieve.lexical._AT_ONCE", 2)
    assert over(corpus, tmp_path, "bm25s").hits("apple plum", "fig pear") == whole
