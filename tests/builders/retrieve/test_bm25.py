import logging
import math
from pathlib import Path

import pytest

from builders.config import RetrieverSpec
from builders.errors import SetupError
from builders.retrieve import bm25
from builders.retrieve.base import Hit, ranked_hits
from builders.retrieve.bm25 import Settings, settings_of
from tests.builders.retrieve.indexed import indexed, over, texts
from tests.builders.small_corpus import page, small_corpus

FIVE = texts("apple apple pear", "apple", "pear plum plum plum", "cherry", "fig fig")


def lucene(tf: int, df: int, n: int, length: int, average: float, k1: float = 0.9, b: float = 0.4) -> float:
    """Lucene's BM25 for one term; lengths below 40 are stored exactly in its one-byte norm."""
    idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * length / average))


def test_scores_are_lucenes_formula_by_hand(tmp_path: Path) -> None:
    """A term in few of few passages has a positive score."""
    # lengths with the title's one word: 4, 2, 5, 2, 3: average 3.2; apple is in rows 0 (twice) and 1
    found = indexed(tmp_path, FIVE, "bm25", k=5).hits("apples", "plum cherry", "apple apple")
    assert [hit.row for hit in found[0]] == [0, 1]
    assert [hit.score for hit in found[0]] == pytest.approx(
        [lucene(2, 2, 5, 4, 3.2), lucene(1, 2, 5, 2, 3.2)], rel=1e-6
    )
    plum, cherry = lucene(3, 1, 5, 5, 3.2), lucene(1, 1, 5, 2, 3.2)  # 1.13 and 0.77
    assert [(hit.row, hit.score) for hit in found[1]] == [
        (2, pytest.approx(plum, rel=1e-6)),
        (3, pytest.approx(cherry, rel=1e-6)),
    ]
    assert found[2][0].score == pytest.approx(2 * lucene(2, 2, 5, 4, 3.2), rel=1e-6)  # a word asked for twice


def test_k1_and_b_of_the_index_are_used_at_search(tmp_path: Path) -> None:
    """What was set when indexing holds for searching."""
    made = indexed(tmp_path, FIVE, "bm25", options={"k1": 1.2, "b": 0.75})
    other = made._replace(context=made.context._replace(spec=RetrieverSpec(kind="bm25")))
    want = lucene(2, 2, 5, 4, 3.2, k1=1.2, b=0.75)
    assert other.hits("apple")[0][0].score == pytest.approx(want, rel=1e-6)


def test_the_language_of_the_index_is_used_at_search(tmp_path: Path) -> None:
    """Japanese text is found although the searcher's own default is English."""
    pages = [page("1", "東京", "東京は日本の首都です。"), page("2", "大阪", "大阪は西日本の都市です。")]
    made = indexed(tmp_path, pages, "bm25", options={"language": "ja"})
    other = made._replace(context=made.context._replace(spec=RetrieverSpec(kind="bm25")))
    assert other.rows("首都") == [0]


def test_an_unknown_language_or_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="language 'xx'"):
        indexed(tmp_path, FIVE, "bm25", options={"language": "xx"})
    with pytest.raises(SetupError, match="no option K1"):
        settings_of(RetrieverSpec(kind="bm25", options={"K1": 1.0}))
    assert settings_of(RetrieverSpec(kind="bm25", options={"b": 1, "heap": "2g"})) == Settings(0.9, 1.0, "en")


def test_ids_do_not_order_ties(tmp_path: Path) -> None:
    """Equal texts come in corpus order, whatever their ids, in every build."""
    for n, ids in enumerate((["10", "2", "9#1"], ["a", "zz", "0"])):
        (tmp_path / str(n)).mkdir()
        corpus = small_corpus(tmp_path / str(n), [page(i, "Same", "the very same words") for i in ids])
        for _ in range(2):
            assert over(corpus, tmp_path / str(n), "bm25", k=1).rows("same words") == [0]


def test_ties_beyond_the_counted_hits_stay_in_order(tmp_path: Path) -> None:
    """Lucene counts 1,000 hits and then only looks for better ones."""
    made = indexed(tmp_path, [page(str(n), "T", "same") for n in range(3000)], "bm25", k=1500)
    assert made.rows("same") == list(range(1500))


def test_many_segments_merge_in_corpus_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large corpus is flushed in many segments of different sizes; document numbers must still be rows."""
    monkeypatch.setattr(bm25, "_BUFFER", 0.05)
    pages = [page(str(n), f"w{n}x", "filler " * (1 + n % 7)) for n in range(900)]
    made = indexed(tmp_path, pages, "bm25", k=2)
    assert [hits[0].row for hits in made.hits(*(f"w{n}x" for n in range(900)))] == list(range(900))


@pytest.mark.parametrize("kind", ["bm25", "bm25s", "tfidf"])
def test_queries_without_a_word_to_look_for_find_nothing(tmp_path: Path, kind: str) -> None:
    """Queries without a word to look for."""
    made = indexed(tmp_path, FIVE, kind)
    assert made.hits("", "the of", "??", "  \n", "zzqx") == [[]] * 5
    assert [len(found) > 0 for found in made.hits("the of", "plum", "")] == [False, True, False]


@pytest.mark.parametrize("kind", ["bm25", "bm25s", "tfidf"])
def test_a_corpus_without_a_word_to_look_for(tmp_path: Path, kind: str) -> None:
    assert indexed(tmp_path, [page("1", "!!!", "??")], kind).hits("word", "??") == [[], []]


def test_a_query_of_too_many_terms_keeps_the_best(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """3,000 terms are all in one passage, one rare term twice in the query is in another."""
    common = " ".join(f"w{n}x" for n in range(3000))
    pages = [page("0", "T", common), page("1", "T", common), page("2", "T", "rareterm"), page("3", "T", "short")]
    made = indexed(tmp_path, pages, "bm25", words=1000)
    with caplog.at_level(logging.WARNING):
        found = made.hits(f"{common} rareterm rareterm", "short")
    rare = len(made.context.corpus) - 2
    assert rare in [hit.row for hit in found[0]]
    assert "query_truncated=true" in caplog.text
    assert [hit.row for hit in found[1]] == [rare + 1]


def test_a_long_query_with_few_terms_is_left_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = indexed(tmp_path, FIVE, "bm25")
    assert made.rows("apple " * 2000) == [0, 1]
    assert not caplog.records


def test_bm25_and_bm25s_agree(tmp_path: Path) -> None:
    """Two implementations, one in Java and one in Python, where both see the same words."""
    corpus = small_corpus(tmp_path, [*FIVE, page("9", "Figs", "Dogs were running; the dogs run to a plum")])
    queries = ["apple plum", "running figs", "a cherry, pear, APPLE", "dog dog plums"]
    ranked = [[ranked_hits(hits) for hits in over(corpus, tmp_path, kind).hits(*queries)] for kind in ("bm25", "bm25s")]
    assert ranked[0] == [[Hit(row, pytest.approx(score, abs=1.1e-4)) for row, score in hits] for hits in ranked[1]]
    assert all(ranked[0])


def test_threads_change_nothing(tmp_path: Path) -> None:
    made = indexed(tmp_path, FIVE, "bm25")
    queries = ["apple", "plum", "fig", "pear", ""] * 50
    assert made.hits(*queries) == made._replace(context=made.context._replace(threads=3)).hits(*queries)


def test_hits_are_at_most_k(tmp_path: Path) -> None:
    assert indexed(tmp_path, FIVE, "bm25", k=1).rows("xx") == [1]  # the title's word, in the shorter of two texts
