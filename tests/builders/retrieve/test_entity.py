from pathlib import Path

import numpy as np
import pytest

from builders.retrieve import embeddings, encoders
from builders.retrieve.encoders import Text
from builders.retrieve.entity import Entity
from tests.builders.retrieve.indexed import Indexed, indexed, over
from tests.builders.small_corpus import page, small_corpus

PAGES = [
    page("97598", "Mercury (planet)", "Mercury is the planet nearest to the Sun. " * 6),
    page("31", "Mercury (element)", "Mercury is a chemical element, a liquid metal once used in thermometers."),
    page("7", "Thermometer", "A thermometer measures how warm something is."),
    page("5", "Bread", "Bread is baked from flour."),
]


@pytest.fixture
def made(tmp_path: Path) -> Indexed:
    return indexed(tmp_path, PAGES, "entity", words=20, model="bundled:minilm", k=3, min_score=0.2, dtype="float32")


def pages_of(made: Indexed, text: str) -> list[str]:
    """Page ids found for a text, in order."""
    return list(dict.fromkeys(made.context.corpus.passage(row).page_id for row in made.rows(text)))


def test_the_meaning_is_read_off_the_query(made: Indexed) -> None:
    assert pages_of(made, "Which planet is near the Sun, Mercury?")[0] == "97598"
    assert pages_of(made, "Why was the liquid metal Mercury in old thermometers?")[0] == "31"


def test_hits_are_pages_of_the_corpus_never_their_own_numbers(made: Indexed) -> None:
    """A page's number in the index is mapped to its passages; the ids 97598, 31, 7 and 5 stay ids."""
    found = made.hits("Mercury, the planet near the Sun")[0]
    assert {hit.row for hit in found} <= set(range(len(made.context.corpus)))
    first = made.context.corpus.rows_of_page("97598")
    assert [hit.row for hit in found][: len(first)] == list(first)
    assert len({hit.score for hit in found[: len(first)]}) == 1


def test_no_name_no_hits(made: Indexed) -> None:
    """No mention, or one that is not in the base, gives an empty list and harms no other query."""
    found = made.hits("who wrote it", "Zzqx", "", "the of", "??", "Bread")
    assert [bool(hits) for hits in found] == [False, False, False, False, False, True]


def test_a_link_below_min_score_is_nil(tmp_path: Path) -> None:
    """The name is known, and no page is near enough."""
    corpus = small_corpus(tmp_path, PAGES)
    scores = [
        [
            hit.score
            for hit in over(corpus, tmp_path, "entity", model="bundled:minilm", min_score=least).hits("Bread")[0]
        ]
        for least in (0.2, 0.999)
    ]
    assert scores[0]
    assert scores[1] == []


def test_a_page_of_that_name_leads_by_the_stated_bonus(made: Indexed) -> None:
    """Vectors of length 1: the inner product, and 1 more for the page whose title is the name."""
    query = encoders.encoder("bundled:minilm", "query", "float32", 1)
    passage = encoders.encoder("bundled:minilm", "passage", "float32", 1)
    text = made.context.corpus.passage(made.context.corpus.rows_of_page("5")[0])
    cosine = float(
        query.encode([Text("", "bread Bread and thermometers?")])[0] @ passage.encode([Text("Bread", text.text)])[0]
    )
    found = {made.context.corpus.passage(h.row).page_id: h.score for h in made.hits("Bread and thermometers?")[0]}
    assert found["5"] == pytest.approx(1 + cosine, abs=1e-4)


def test_k_counts_pages(tmp_path: Path) -> None:
    made = indexed(tmp_path, PAGES, "entity", words=20, model="bundled:minilm", k=1)
    assert len(pages_of(made, "Mercury, the planet")) == 1
    assert len(made.rows("Mercury, the planet")) > 1


def test_first_passages_are_encoded_once_for_both_retrievers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus(tmp_path, PAGES, words=20)
    over(corpus, tmp_path, "dense", model="bundled:minilm", dtype="float32")

    def encode(*_: object) -> np.ndarray:
        raise AssertionError("encoded again")

    monkeypatch.setattr(encoders.SentenceEncoder, "encode", encode)
    made = over(corpus, tmp_path, "entity", model="bundled:minilm", dtype="float32")
    rows = np.fromfile(made.folder / "vectors" / "rows.bin", "<i8").tolist()
    assert rows == [corpus.rows_of_page_number(n)[0] for n in range(4)]


def test_batches_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = small_corpus(tmp_path, PAGES, words=20)
    queries = ["Mercury the planet", "Bread", "a thermometer of mercury"]
    (tmp_path / "other").mkdir()
    whole = over(corpus, tmp_path, "entity", model="bundled:minilm", dtype="float32").hits(*queries)
    monkeypatch.setattr(embeddings, "BATCH", 1)
    monkeypatch.setattr("builders.retrieve.entity._AT_ONCE", 1)
    parts = over(corpus, tmp_path / "other", "entity", model="bundled:minilm", dtype="float32").hits(*queries)
    assert [[hit.row for hit in hits] for hits in parts] == [[hit.row for hit in hits] for hits in whole]


def test_identity_names_models_and_number_type(made: Indexed) -> None:
    assert {"model", "query_model", "dtype", "torch"} <= Entity().identity(made.context.spec).keys()
