from math import log
from pathlib import Path

import pytest

from builders.retrieve import tfidf
from builders.retrieve.tfidf import idf, ngrams
from tests.builders.retrieve.indexed import indexed, over, texts
from tests.builders.small_corpus import page, small_corpus


def padded(*bodies: str) -> list:
    """Pages with these texts among so many others that DrQA's own idf holds."""
    return texts(*bodies, *(f"filler{n}" for n in range(60 - len(bodies))))


def test_ngrams_are_words_and_neighbours_without_stop_words() -> None:
    assert ngrams("The Red Fox, and a red HOUSE.") == ["red", "fox", "red", "house", "red fox", "red house"]


@pytest.mark.parametrize("text", ["", "the of", "?? -- _", " "])
def test_no_ngram_in_stop_words_and_punctuation(text: str) -> None:
    """Queries without a word to look for."""
    assert ngrams(text) == []


def test_ngrams_of_other_scripts() -> None:
    assert ngrams("Zürich हिन्दी") == ["zürich", "हिन्दी", "zürich हिन्दी"]


def test_idf_by_hand() -> None:
    assert idf(5, 100) == pytest.approx(log(95.5 / 5.5))
    assert idf(80, 100) == 0  # in more than half of the pages
    assert idf(1, 2) == idf(2, 2) == 0.1  # log 1 and log 0.2: a tiny corpus keeps a little
    assert idf(1, 49) == pytest.approx(log(48.5 / 1.5))


def test_scores_by_hand(tmp_path: Path) -> None:
    made = indexed(tmp_path, padded("red fox. red", "red hen", "blue hen"), "tfidf")
    # N = 60: red in 2 pages, "red fox" and fox in 1; title "Xx" is in all and none of the query
    red, fox = log(58.5 / 2.5), log(59.5 / 1.5)
    first = log(2) * red * log(3) * red + 2 * log(2) * fox * log(2) * fox  # fox and "red fox"
    found = made.hits("Red fox?")[0]
    assert [hit.row for hit in found] == [0, 1]
    assert [hit.score for hit in found] == pytest.approx([first, log(2) * red * log(2) * red], abs=1e-4)


def test_two_pages_give_a_hit(tmp_path: Path) -> None:
    """DrQA's idf is log 1 = 0 for a term in one of two pages."""
    found = indexed(tmp_path, texts("apple", "pear"), "tfidf").hits("apple")[0]
    assert [hit.row for hit in found] == [0]
    assert found[0].score > 0


def test_k_counts_pages_and_all_their_passages_come(tmp_path: Path) -> None:
    pages = [page("a", "A", "Fox here. " * 30), page("b", "B", "Fox."), page("c", "C", "Hen.")]
    made = indexed(tmp_path, pages, "tfidf", words=20, k=1)
    found = made.hits("fox")[0]
    assert [hit.row for hit in found] == [0, 1, 2]
    assert len({hit.score for hit in found}) == 1


def test_a_page_is_one_text_with_its_title(tmp_path: Path) -> None:
    """Words of the title and of different passages add up in one page."""
    pages = [page("a", "Quartz", "Fox one two three. " * 10 + "Hen."), page("b", "B", "Fox. Hen.")]
    found = indexed(tmp_path, pages, "tfidf", words=20).hits("quartz hen")[0]
    # two pages: every idf is 0.1; quartz and hen once each in page a, hen once in page b
    once = log(2) ** 2 * 0.1**2
    scores = {hit.row: hit.score for hit in found}
    assert scores[0] == pytest.approx(2 * once, abs=5.1e-5)
    assert scores[max(scores)] == pytest.approx(once, abs=5.1e-5)


def test_ties_come_in_corpus_order(tmp_path: Path) -> None:
    """Ties."""
    pages = [page(i, "Same", "word") for i in ("10", "2", "9#1")]
    assert indexed(tmp_path, pages, "tfidf", k=2).rows("word") == [0, 1]


def test_a_word_of_most_pages_finds_nothing_in_a_larger_corpus(tmp_path: Path) -> None:
    assert indexed(tmp_path, padded("word"), "tfidf").rows("xx") == []  # the title of all


def test_shards_and_threads_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus(tmp_path, padded("red fox", "blue fox", "red hen", "fox"))
    queries = ("red fox", "blue", "fox", "??", "zzqx")
    whole = over(corpus, tmp_path, "tfidf", k=3).hits(*queries)
    monkeypatch.setattr(tfidf, "_AT_ONCE", 2)
    monkeypatch.setattr(tfidf, "_SHARD", 5)
    parts = over(corpus, tmp_path, "tfidf", threads=3, k=3)
    assert len(list(parts.folder.glob("[0-9]*"))) > 5
    assert parts.hits(*queries) == whole
    assert whole[3:] == [[], []]
