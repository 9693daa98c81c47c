from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.chunking import bench, characters, packed


class Sentence(NamedTuple):
    text: str


def test_the_peer_packs_whole_sentences_and_splits_long_ones() -> None:
    sentences = [Sentence("a " * 60), Sentence("b " * 40), Sentence("c " * 250)]
    passages = [text.split() for text in packed(sentences)]
    assert [len(words) for words in passages] == [100, 100, 100, 50]
    assert passages[0] == ["a"] * 60 + ["b"] * 40


def test_texts_are_compared_page_by_page_without_whitespace() -> None:
    together = characters([("p", "In Paris.He went."), ("q", "x")])
    assert (
        together
        == characters([("p", "In Paris."), ("p", "He went."), ("q", "x")])
        == {"p": "InParis.Hewent.", "q": "x"}
    )
    assert together != characters([("p", "In Paris.He went"), ("q", "x")])


def test_a_run_gives_a_ratio_and_both_sides_agree(small_kilt: Path, tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    (result,) = bench(small_kilt, tmp_path)
    assert result.agrees
    assert result.ratio == pytest.approx(result.ours / result.peer)
