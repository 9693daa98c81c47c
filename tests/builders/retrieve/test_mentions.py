from pathlib import Path

import numpy as np
import pytest

from builders.retrieve.mentions import Mention, Names, write_names
from builders.schema import Page
from tests.builders.small_corpus import page, small_corpus

PAGES = [
    Page("901", "Mercury (planet)", ["Mercury (planet)\n", "It circles the Sun."], [("the Sun", "Sun"), ("", "Nil")]),
    page("902", "Mercury (element)", "A liquid metal."),
    page("903", "New York", "A state."),
    page("904", "New York City", "A city."),
    page("905", "It", "A novel."),
    page("906", "Empty"),
    page("907", "!!!", "A band."),
]


@pytest.fixture
def names(tmp_path: Path) -> Names:
    write_names(small_corpus(tmp_path, PAGES), tmp_path)
    return Names(tmp_path)


def test_a_name_leads_to_all_pages_of_that_title(names: Names) -> None:
    assert names.mentions("Is MERCURY near?") == [Mention("mercury", [0, 1])]
    assert names.mentions("Is Mercury (planet) near?") == [Mention("mercury planet", [0])]


def test_the_longest_name_wins(names: Names) -> None:
    assert [m.name for m in names.mentions("From New York City to New York")] == ["new york city", "new york"]


def test_a_link_text_is_a_name_of_no_page(names: Names) -> None:
    assert names.mentions("how hot is the Sun") == [Mention("sun", [])]


@pytest.mark.parametrize("text", ["who wrote it", "", "??", "Zzqx", "the of", "Empty", "!!!"])
def test_no_name(names: Names, text: str) -> None:
    """Pronouns that are titles, unknown names, pages without text, titles without a letter."""
    assert names.mentions(text) == []


def test_a_name_is_found_once(names: Names) -> None:
    assert len(names.mentions("Mercury, Mercury and Mercury")) == 1


def test_the_table_is_sorted_and_has_no_pair_twice(tmp_path: Path) -> None:
    pages = [Page(str(n), f"Title {n}", [f"Title {n}\n", "text."], [("same link", "X")]) for n in range(300)]
    write_names(small_corpus(tmp_path, pages), tmp_path)
    pairs = np.load(tmp_path / "names.npy")
    assert len(pairs) == 301
    assert (pairs["key"][1:] > pairs["key"][:-1]).all()
    assert sorted(pairs["page"].tolist()) == [-1, *range(300)]
    assert not list(tmp_path.glob("*.part"))
