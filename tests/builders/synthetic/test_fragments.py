from collections import Counter
from pathlib import Path

import pytest

from builders.config import Source
from builders.errors import SetupError
from builders.synthetic.fragments import read_pool, source_files
from builders.tokens import token_counter

COUNTER = token_counter("smollm2")
LONG = "The river turns west " + "and then north " * 12 + "at last."


def pool(folder: Path, text: str, most: int = 40) -> tuple[list[str], Counter[str]]:
    """The fragments of one text file, and what was counted."""
    (folder / "book.txt").write_text(text, encoding="utf-8")
    counts: Counter[str] = Counter()
    files = source_files(Source(reader="texts", path=str(folder)), folder)
    found = read_pool("texts", {place: Path(file.path or "") for place, file in files.items()}, most, COUNTER, counts)
    return [fragment.text for fragment in found.fragments], counts


def test_fragments_are_whole_sentences_up_to_the_limit(tmp_path: Path) -> None:
    one, two, three = "Rain fell on the old stone roof.", "The cat slept all through the day.", "A tall door opened."
    limit = COUNTER.count(f"{one} {two}")
    found, counts = pool(tmp_path, f"{one}\n{two} {one} {three}", most=limit)
    assert found == [f"{one} {two}", f"{one} {three}"]
    assert counts == {"fragments": 2}
    assert pool(tmp_path, f"{one}\n{two} {three}", most=limit - 1)[0] == [one, f"{two} {three}"]


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    rain, heading = "Rain fell on the old stone roof.", "A heading of some length that ends in no full stop"
    found, counts = pool(tmp_path, f"{rain}\n\n{LONG}\n\nYes.\n\n{heading}")
    assert found == [rain]
    assert counts == {"fragments": 1, "long_sentence": 1, "short_fragment": 1, "unfinished_fragment": 1}


def test_no_fragment_goes_over_a_sentence_left_out(tmp_path: Path) -> None:
    one, two = "Rain fell on the old stone roof.", "The cat slept all through the day."
    assert pool(tmp_path, f"{one} {LONG} {two}")[0] == [one, two]


def test_a_page_with_a_barred_word_anywhere_gives_nothing(tmp_path: Path) -> None:
    rain, towers = "Rain fell on the old stone roof.", "He took the old towers for ships."
    cat = "The cat slept all through the day."
    (tmp_path / "book.txt").write_text(f"{rain}\n\n{towers} {cat}", encoding="utf-8")
    found = read_pool("texts", {"a": tmp_path / "book.txt"}, 12, COUNTER, Counter())
    assert [one.text for one in found.without(frozenset({"tower"}))] == [rain]
    assert [one.text for one in found.without(frozenset({"nothing"}))] == [rain, towers, cat]


def test_the_files_of_a_folder_are_inputs_by_name(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.md"):
        (tmp_path / name).write_text("Text.")
    files = source_files(Source(reader="texts", path=".", licence="cc0-1.0"), tmp_path)
    assert list(files) == ["knowledge.a", "knowledge.b"]
    assert {file.licence for file in files.values()} == {"cc0-1.0"}


def test_a_source_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"contains no \.txt file"):
        source_files(Source(reader="texts", path="."), tmp_path)
    with pytest.raises(SetupError, match=r"'books' is unknown; there are .*texts"):
        source_files(Source(reader="books", path="."), tmp_path)
    (tmp_path / "latin.txt").write_bytes("Café.".encode("latin-1"))
    with pytest.raises(SetupError, match="not UTF-8"):
        read_pool("texts", {"a": tmp_path / "latin.txt"}, 40, COUNTER, Counter())
