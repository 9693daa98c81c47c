"""Articles of contexts and of knowledge sources, and BM25 over whole articles."""

import json
from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.retrieve.lexical import lucene_terms
from eval_harness.conditions.ranking import bm25_scores
from eval_harness.data.dataset import Dataset
from eval_harness.protocols.frames.articles import Articles, article_of, articles_of, page_of
from eval_harness.protocols.frames.plan import IndexKind
from tests.eval_harness.protocols.frames.conftest import TEXTS

KINDS: tuple[IndexKind, ...] = ("bm25", "bm25s")


def opened(dataset: Dataset, kind: IndexKind, source: str | None = None) -> Articles:
    return articles_of(dataset, "frames_1k", "test", source, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_search(dataset: Dataset, kind: IndexKind) -> None:
    """A query without a word that says anything finds nothing."""
    articles = opened(dataset, kind)
    assert len(articles) == len(TEXTS)
    found = articles.search(["Rimac", "", "the of", "??", "zzqx", "a novel printed by John Murray"], 2)
    ids = [[article.pid for article in one] for one in found]
    assert ids == [["lima"], [], [], [], [], ["emma", "austen"]]
    assert found[0][0].text == "Lima is the capital of Peru.\nIt lies on the Rimac river."
    assert [len(one) for one in articles.search(["snow ants oak iron"], 3)] == [3]


def test_the_order_is_that_of_the_formula_over_whole_articles(dataset: Dataset) -> None:
    """The harness's own BM25 computes the same formula in another way."""
    articles = opened(dataset, "bm25s")
    every = [articles.get(id) for id in TEXTS]
    passages = [one for one in every if one]
    for query in ("capital of Peru river", "Jane Austen novels printed", "ice water metal tree wood"):
        scores = bm25_scores(query, passages, lucene_terms())
        ranked = sorted(range(len(passages)), key=lambda at: -scores[at])
        want = [passages[at].pid for at in ranked if scores[at] > 0]
        assert [article.pid for article in articles.search([query], 8)[0]] == want


def test_equal_articles_keep_the_order_of_the_source(dataset: Dataset, tmp_path: Path) -> None:
    pages = [{"wikipedia_id": id, "wikipedia_title": "T", "text": ["T\n", "the same words"]} for id in ("9", "10", "2")]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages))
    found = opened(dataset, "bm25s", f"kilt={path}").search(["same words"], 2)
    assert [article.pid for article in found[0]] == ["9", "10"]


def test_a_source_has_whole_articles_with_a_line_for_each_passage(dataset: Dataset, tmp_path: Path) -> None:
    """60 sentences of 5 words: 20 fit into a passage of 100 words; a heading ends one."""
    sentences = [f"Word is number {n} here." for n in range(60)]
    text = ["Long\n", " ".join(sentences[:30]), "Section::::More", " ".join(sentences[30:])]
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps({"wikipedia_id": "1", "wikipedia_title": "Long", "text": text}))
    article = opened(dataset, "bm25s", f"kilt={path}").get("1")
    assert article is not None
    lines = article.text.split("\n")
    assert [line.count("number") for line in lines] == [20, 10, 20, 10]
    assert " ".join(lines) == " ".join(sentences)


def test_an_index_is_made_once(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(dataset, "bm25s")
    monkeypatch.setattr("builders.retrieve.lexical.Bm25s.index", lambda *args: pytest.fail("indexed again"))
    again = opened(dataset, "bm25s")
    assert again.describe() == first.describe()
    assert again.search(["Peru"], 1) == first.search(["Peru"], 1)


def test_passages_stand_in_the_order_of_their_numbers(dataset: Dataset) -> None:
    """Contexts are shuffled, and ten comes after two."""
    mine = [opened(dataset, "bm25s").get("emma")]
    assert mine[0] is not None and mine[0].text.startswith("Emma is")
    parts = [mine[0]._replace(pid=f"p:{n}", text=f"part\n {n}") for n in (10, 2, 0)]
    assert article_of("p", parts).text == "part 0\npart 2\npart 10"
    assert (page_of("12:3"), page_of("a:b:3"), page_of("alone")) == ("12", "a:b", "alone")


def test_unknown_sources_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"invalid --articles pages\.json; write READER=PATH"):
        opened(dataset, "bm25s", "pages.json")
    with pytest.raises(SetupError, match="is not there"):
        opened(dataset, "bm25s", f"kilt={tmp_path / 'gone'}")
    empty = tmp_path / "empty.jsonl"
    empty.write_text(json.dumps({"wikipedia_id": "1", "wikipedia_title": "T", "text": ["T\n"]}))
    with pytest.raises(SetupError, match="has no article with text"):
        opened(dataset, "bm25s", f"kilt={empty}")
