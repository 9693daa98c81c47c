from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from builders.retrieve import embeddings
from builders.retrieve.embeddings import Embeddings, read_vectors
from builders.retrieve.encoders import Encoder, Text
from tests.builders.small_corpus import page, small_corpus

PAGES = [
    page("a", "A", "One. " * 30),
    page("b", "B"),
    page("c", "C", "Two. " * 70),
    page("d", "D", "Three."),
    page("e", "E", "Four."),
]


class Counting(Encoder):
    """An encoder whose vector is the length of the text, and which counts its texts."""

    digest = "d" * 64

    def __init__(self) -> None:
        self.threads, self.calls = 1, list[int]()

    def _vectors(self, texts: Sequence[Text]) -> np.ndarray:
        self.calls.append(len(texts))
        return np.array([[len(text.joined())] for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def two_to_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "BATCH", 2)


def test_streams_hold_first_passages_and_the_others(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, PAGES, words=20)
    assert [corpus.rows_of_page_number(n) for n in range(5)] == [
        range(0, 2),
        range(2, 2),
        range(2, 6),
        range(6, 7),
        range(7, 8),
    ]
    made = Embeddings(tmp_path, Counting())
    assert [b.rows.tolist() for b in made.batches(corpus, "first")] == [[0, 2], [6, 7]]
    assert [b.rows.tolist() for b in made.batches(corpus, "other")] == [[1, 3], [4, 5]]
    for batch in made.batches(corpus, "first"):
        lengths = [len(f"{corpus.passage(row).title} {corpus.passage(row).text}") for row in batch.rows.tolist()]
        assert read_vectors(batch.path)[:, 0].tolist() == lengths


def test_what_is_there_is_not_encoded_again(tmp_path: Path) -> None:
    """A build that was killed goes on with the first missing file; another retriever shares what it has in common."""
    corpus, encoder = small_corpus(tmp_path, PAGES, words=20), Counting()
    first = next(iter(Embeddings(tmp_path, encoder).batches(corpus, "first")))
    assert encoder.calls == [2]
    assert len(list(Embeddings(tmp_path, encoder).batches(corpus, "first"))) == 2
    assert encoder.calls == [2, 2]
    first.path.unlink()
    again = next(iter(Embeddings(tmp_path, encoder).batches(corpus, "first")))
    assert again.path == first.path
    assert len(encoder.calls) == 3


def test_a_failed_batch_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, table: object) -> None:
        path.write_text("half")
        raise OSError("disk full")

    corpus = small_corpus(tmp_path, PAGES, words=20)
    monkeypatch.setattr(embeddings, "write_table", fail)
    with pytest.raises(OSError, match="disk full"):
        next(iter(Embeddings(tmp_path / "cache", Counting()).batches(corpus, "first")))
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
