"""Passages: whole sentences, never too long, and every character of a page accounted for."""

import re
import tracemalloc
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.chunk import Piece, chunk_page, chunk_table, sentences
from builders.schema import PASSAGES, Page
from builders.sources.clean import decode_entities
from builders.sources.kilt import read_pages
from builders.stages import pages as stage
from tests.builders.small_corpus import page, page_table


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def texts(*paragraphs: str, words: int = 100) -> list[str]:
    return [piece.text for piece in chunk_page(page("1", "Title", *paragraphs), words)]


def words_of(first: int, last: int) -> str:
    return " ".join(f"w{n}" for n in range(first, last + 1))


def test_missing_space_between_sentences():
    """The next sentence's first letter stays with the next sentence."""
    assert split("Alpha beta.Gamma delta") == ["Alpha beta.", "Gamma delta"]
    assert texts("Alpha beta.Gamma delta", words=2) == ["Alpha beta.", "Gamma delta"]


def test_long_sentence_is_split():
    """250 words in passages of at most 100."""
    pieces = texts(words_of(1, 250) + ".")
    assert [len(text.split()) for text in pieces] == [100, 100, 50]
    assert pieces[1] == words_of(101, 200)


def test_marker_inside_a_paragraph_is_text():
    """The markers of sections."""
    assert texts("The dump writes Section::::Notes here.") == ["The dump writes Section::::Notes here."]


def test_heading_ends_a_passage_and_is_no_text():
    """Only a paragraph that starts with the marker is a heading."""
    assert texts("One.\n", "Section::::History.\n", "Two.\n") == ["One.", "Two."]


def test_list_markers_are_removed_from_every_passage():
    """The markers of list items."""
    assert texts("BULLET::::- Paris is large.\n", "Section::::X\n", "BULLET::::- Lyon is old.\n") == [
        "Paris is large.",
        "Lyon is old.",
    ]


def test_title_is_no_text_and_paragraph_numbers_stay():
    """The title is the first paragraph."""
    pages = Page("1", "Paris", ["Paris\n", "Section::::Intro\n", "Capital of France.\n", "Second."], [])
    assert chunk_page(pages) == [Piece("Capital of France. Second.", 2, 0, 3, 7)]


def test_whole_sentences_are_packed_over_borders_of_paragraphs():
    three, four = "One two three.", "One two three four."
    assert texts(f"{three} {four}", f"{three}\n", four, words=8) == [f"{three} {four}", f"{three} {four}"]
    assert texts(f"{three} {four}", f"{three}\n", four, words=7) == [f"{three} {four}", f"{three} {four}"]
    assert texts(f"{three} {four}", f"{three}\n", four, words=6) == [three, four, three, four]


def test_paragraph_that_does_not_fit_is_cut_between_sentences():
    assert texts("One two three.", "Four five. Six seven.", words=5) == ["One two three. Four five.", "Six seven."]


def test_characters_are_counted_in_the_raw_paragraph():
    raw = "BULLET::::- Tom &amp; Jerry. A&nbsp;cat."
    first, second = chunk_page(page("1", "T", raw), words=3)
    assert first.text == "Tom & Jerry." and raw[first.start_character : first.end_character] == "Tom &amp; Jerry."
    assert second.text == "A cat." and raw[second.start_character : second.end_character] == "A&nbsp;cat."


def test_an_entity_at_the_end_is_inside():
    raw = "Fish &amp; chips &lt;3&gt;"
    (piece,) = chunk_page(page("1", "T", raw))
    assert piece == Piece("Fish & chips <3>", 1, 0, 1, len(raw))


@pytest.mark.parametrize(
    "text, want",
    [
        ("Mr. Smith met Dr. Jones. They spoke.", ["Mr. Smith met Dr. Jones.", "They spoke."]),
        ("J. R. R. Tolkien wrote. He did.", ["J. R. R. Tolkien wrote.", "He did."]),
        ("The U.S. Senate met. It voted.", ["The U.S. Senate met.", "It voted."]),
        ("It cost 3.14 dollars. Cheap!", ["It cost 3.14 dollars.", "Cheap!"]),
        ("See No. 5 of it. He said no. Then he left.", ["See No. 5 of it.", "He said no.", "Then he left."]),
        ("Trees, e.g. Oaks, grow. Slowly.", ["Trees, e.g. Oaks, grow.", "Slowly."]),
        ("Yahoo! is a firm. Why? It is…", ["Yahoo! is a firm.", "Why?", "It is…"]),
        ('He said "Stop." Then (at last!) He left.', ['He said "Stop."', "Then (at last!)", "He left."]),
        ("It began in 1990. The end came.", ["It began in 1990.", "The end came."]),
        ("1. First item. Second.", ["1. First item.", "Second."]),
        ("吾輩は猫である。名前はまだ無い！「なぜ？」", ["吾輩は猫である。", "名前はまだ無い！", "「なぜ？」"]),
        ("Это дом. Он стар.", ["Это дом.", "Он стар."]),
        ("", []),
        (" . ", ["."]),
        (".Abc", [".Abc"]),
    ],
)
def test_sentences(text: str, want: list[str]):
    assert split(text) == want


def test_scripts_without_spaces_are_cut_too():
    assert texts("吾輩は猫である。" * 20, words=16) == ["吾輩は猫である。" * 2] * 10


@pytest.mark.parametrize("paragraphs", [[], ["Title\n"], ["Title\n", "\n", " \t"], ["Title\n", "Section::::A\n"]])
def test_page_without_text_has_no_passages(paragraphs: list[str]):
    assert chunk_page(Page("1", "Title", paragraphs, [])) == []


def test_table():
    table = chunk_table(
        page_table([page("7", "A", "One two. Three four."), page("8", "B"), page("9", "C", "Five.")]), 2
    )
    assert table.schema.equals(PASSAGES)
    assert table.column("pid").to_pylist() == ["7:0", "7:1", "9:0"]
    assert table.column("title").to_pylist() == ["A", "A", "C"]
    assert table.to_pylist()[1] == {
        "pid": "7:1",
        "page_id": "7",
        "title": "A",
        "text": "Three four.",
        "start_paragraph": 1,
        "start_character": 9,
        "end_paragraph": 1,
        "end_character": 20,
    }


_BITS = ["one", "Two", "Mr.", "end.", "why?", "“Yes!”", "3.5", "猫。", "x.Yes", " ", "\n", "\u00a0", "é", "No. 5"]
_MARKUP = ["&amp;", "&nbsp;", "&#32;", "&notreal;", "& ", "BULLET::::- ", "BULLET::::", "Section::::A "]
_PARAGRAPHS = st.lists(st.lists(st.sampled_from(_BITS + _MARKUP), max_size=30).map("".join), max_size=6)
_FREE = st.lists(st.text(max_size=60), max_size=4)


@given(_PARAGRAPHS | _FREE, st.integers(1, 12))
def test_no_passage_is_too_long_and_nothing_is_lost(paragraphs: list[str], words: int):
    pieces = chunk_page(Page("1", "T", ["T", *paragraphs], []), words)
    assert all(1 <= len(piece.text.split()) <= words for piece in pieces)
    kept = (p for p in paragraphs if not p.startswith("Section::::"))
    whole = "".join(decode_entities(without_markers(p)) for p in kept)
    assert "".join("".join(piece.text for piece in pieces).split()) == "".join(whole.split())


@given(_PARAGRAPHS | _FREE, st.integers(1, 12))
def test_ranges_tile_the_page(paragraphs: list[str], words: int):
    raw = ["T", *paragraphs]
    covered = [[False] * len(p) for p in raw]
    last = (0, 0)
    for piece in chunk_page(Page("1", "T", raw, []), words):
        start, end = piece[1:3], piece[3:5]
        assert last <= start < end
        last = end
        for number in range(start[0], end[0] + 1):
            first = start[1] if number == start[0] else 0
            to = end[1] if number == end[0] else len(raw[number])
            assert first < to <= len(raw[number]) or number not in (start[0], end[0])
            covered[number][first:to] = [True] * (to - first)
            assert not raw[number].startswith("Section::::")
    for text, marks in zip(raw[1:], covered[1:], strict=True):
        left = "".join(c if not mark else "\0" for c, mark in zip(text, marks, strict=True))
        if not text.startswith("Section::::"):
            assert not "".join(decode_entities(without_markers(left)).replace("\0", "").split())


def without_markers(text: str) -> str:
    return re.sub(r"BULLET::::(-(?=\s|\0|$))?", "", text)


@given(_PARAGRAPHS | _FREE, st.integers(1, 12))
def test_a_long_text_is_cut_as_a_short_one(paragraphs: list[str], words: int):
    want = chunk_page(Page("7", "T", ["T", *paragraphs], []), words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builders.chunk._LONG", 10)
        assert chunk_page(Page("7", "T", ["T", *paragraphs], []), words) == want


@pytest.mark.parametrize("sentence", ["word ", "A. ", "The fox ran to Oslo in 1994. ", "x"])
def test_a_paragraph_of_millions_of_characters_needs_a_few_times_its_size(sentence: str):
    text = sentence * (600_000 // len(sentence))
    tracemalloc.start()
    try:
        pieces = chunk_page(Page("7", "T", ["T", text], []))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert " ".join(piece.text for piece in pieces).split() == text.split()
    assert peak < 12 * len(text)  # a list of all words and their places takes 25 times it and more


def test_a_part_of_pages_has_so_many_pages_or_characters_and_at_least_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stage, "PAGES_PER_PART", 3)
    monkeypatch.setattr(stage, "MOST", 100)
    lengths = [10, 10, 10, 10, 90, 300, 50, 50, 1]
    pages = [Page(str(n), "T", ["x" * length], []) for n, length in enumerate(lengths)]
    parts = [[len(page.paragraphs[0]) for page in part] for part in stage._parts(pages)]
    assert parts == [[10, 10, 10], [10, 90], [300], [50, 50], [1]]


def test_real_pages(shared_data: Path):
    counts: Counter[str] = Counter()
    n = 0
    for one in islice(read_pages(shared_data / "kilt_mini" / "kilt_knowledgesource.json", counts), 0, None, 10):
        pieces = chunk_page(one)
        n += len(pieces)
        assert all(len(piece.text.split()) <= 100 for piece in pieces)
        whole = decode_entities("".join(one.paragraphs[1:]))
        assert "".join("".join(piece.text for piece in pieces).split()) == "".join(whole.split())
    assert n > 2706
