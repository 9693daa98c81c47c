from pathlib import Path

import pytest

from benchmarks.tfidf import bench, peer_index, peer_search
from builders.retrieve.base import Query
from tests.builders.small_corpus import page, small_corpus


def test_the_peer_finds_the_page_with_the_words(tmp_path: Path) -> None:
    pages = [page("1", "Oslo", "Trams run."), page("2", "Bergen", "Rain falls."), page("3", "Tromsø", "Snow lies.")]
    found = peer_search(peer_index(small_corpus(tmp_path, pages)), [Query("q", "rain in Bergen"), Query("none", "sun")])
    assert [len(scores) for scores in found] == [1, 0]


def test_a_run_gives_ratios_and_both_sides_agree(small_kilt: Path, tmp_path: Path) -> None:
    results = bench(small_kilt, tmp_path)
    assert [result.name for result in results] == ["tfidf build", "tfidf search"]
    assert all(result.agrees for result in results)
    assert all(result.ratio == pytest.approx(result.ours / result.peer) for result in results)
