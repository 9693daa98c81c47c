from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import pytest

from builders.retrieve.encoders import Text
from eval_harness.conditions import ranking as retrieval
from eval_harness.conditions.ranking import Retrieval, bm25_scores
from eval_harness.data.dataset import Passage


def passages(*texts: str, title: str = "") -> list[Passage]:
    return [Passage(f"{n}:0", title, text, "random") for n, text in enumerate(texts)]


def test_bm25_by_hand() -> None:
    """Two passages of 2 and 4 words, k1 = 0.9, b = 0.4; `basalt` in the first alone, twice in the query."""
    found = bm25_scores("basalt basalt amber", passages("basalt amber", "amber amber amber chalk"), str.split)
    idf_basalt, idf_amber = log(1 + 1.5 / 1.5), log(1 + 0.5 / 2.5)
    norms = [0.9 * (0.6 + 0.4 * 2 / 3), 0.9 * (0.6 + 0.4 * 4 / 3)]
    want = [
        2 * idf_basalt / (1 + norms[0]) + idf_amber / (1 + norms[0]),
        idf_amber * 3 / (3 + norms[1]),
    ]
    assert found == pytest.approx(want, abs=1e-12)


def test_bm25_reads_titles_and_stems_and_needs_no_large_corpus() -> None:
    """A term in one of two passages scores above 0."""
    rank = Retrieval().ranked
    assert rank("bm25", "Who was painting?", [*passages("rain"), *passages("rain", title="Painted")]) == [1, 0]


def test_ties_and_a_query_without_content_keep_the_order_of_the_context() -> None:
    """Queries without a word to look for; ties."""
    same = [Passage(pid, "", "one text", "random") for pid in ("10:0", "2:0", "9#1:0")]
    assert Retrieval().ranked("bm25", "one text", same) == [0, 1, 2]
    assert Retrieval().ranked("bm25", "the of", passages("a b", "of the of")) == [0, 1]


class Letters:
    """Counts of letters as vectors; keeps what it was asked."""

    digest = "d"

    def __init__(self, side: str, asked: list[Sequence[Text]]) -> None:
        self.side = side
        self._asked = asked

    def encode(self, texts: Sequence[Text]) -> np.ndarray:
        self._asked.append(texts)
        return np.array([[text.joined().count(letter) for letter in "abc"] for text in texts], dtype=np.float32)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Text]]:
    calls: list[Sequence[Text]] = []

    def encoder(model: str, side: str, dtype: str, threads: int) -> Any:
        assert dtype == "float32"
        return Letters(side, calls)

    monkeypatch.setattr(retrieval, "encoder", encoder)
    return calls


def test_dense_encodes_each_text_once_and_alone(asked: list[Sequence[Text]]) -> None:
    """No vector depends on its neighbours, or on which instances came before."""
    ranks = Retrieval()
    assert ranks.ranked("dense", "b", passages("a", "bb", "b")) == [1, 2, 0]
    assert all(len(texts) == 1 for texts in asked)
    assert len(asked) == 4
    assert ranks.ranked("dense", "b", passages("b", "bb")) == [1, 0]
    assert len(asked) == 4


def test_hybrid_is_reciprocal_rank_fusion(asked: list[Sequence[Text]]) -> None:
    """bm25 ranks 1, 0, 2 and dense 2, 1, 0: 1/62 + 1/63, 1/61 + 1/62, 1/63 + 1/61"""
    texts = passages("x", "x b", "bb")
    ranks = Retrieval()
    assert ranks.ranked("bm25", "x b", texts) == [1, 0, 2]
    assert ranks.ranked("dense", "x b", texts) == [2, 1, 0]
    assert ranks.ranked("hybrid", "x b", texts) == [1, 2, 0]


def test_equal_fused_scores_keep_the_order_of_the_context(asked: list[Sequence[Text]]) -> None:
    """The last two are tenth and eleventh by one and the other way round by the other; ids as text would be 10, 9."""
    texts = passages(*["x x bbb"] * 9, "bb y", "x")
    ranks = Retrieval()
    assert ranks.ranked("bm25", "x b", texts)[9:] == [10, 9]
    assert ranks.ranked("dense", "x b", texts)[9:] == [9, 10]
    assert ranks.ranked("hybrid", "x b", texts) == list(range(11))


def test_the_record_names_what_ranks(asked: list[Sequence[Text]]) -> None:
    assert Retrieval().describe(["bm25"]).keys() == {"versions", "bm25"}
    found = Retrieval("bundled:minilm").describe(["hybrid"])
    assert found["dense"] == {"model": "bundled:minilm", "passage_digest": "d", "query_digest": "d"}
    assert {"bm25s", "sentence-transformers"} <= found["versions"].keys()


def test_the_bundled_encoder_finds_meaning() -> None:
    texts = passages("The harvest was poor.", "The physician treated patients.", "A train left.")
    assert Retrieval().ranked("dense", "a doctor in a hospital", texts)[0] == 1
