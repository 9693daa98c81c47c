"""The normaliser in SQL is the one that builders/text.py defines in words."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.chunk import chunk_page
from builders.sources.kilt import read_pages
from builders.text import fold, normalise
from validation.normal import normal_sql, plain_sql, words_sql

KNOWN = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]


def in_sql(texts: Sequence[str]) -> list[tuple[str, str]]:
    """The words and the normal form of each text, by DuckDB."""
    connection = duckdb.connect()
    connection.register("given", pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.large_string())}))
    return connection.execute(f"""SELECT words, {normal_sql("words")} FROM (
        SELECT n, {words_sql("text")} AS words FROM given) ORDER BY n""").fetchall()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The Cat, sat!", "cat sat"),
        ("A", "a"),
        ("an  The a", "an the a"),
        ("the a cat", "cat"),
        ("(a) the-cat", "cat"),
        ("e\u0301cole", "école"),
        ("１９９０", "1990"),
        ("ＡＢＣ", "abc"),
        ("İstanbul I", "İstanbul i"),
        ("東京タワー", "東 京 タ ワ ー"),
        ("O’Neil", "o neil"),
        ("1990–1995", "1990 1995"),
        ("", ""),
        (" !? ", ""),
        ("Straße", "straße"),
        ("ΣΑΣ", "σασ"),
    ],
)
def test_by_hand(text: str, wanted: str) -> None:
    assert in_sql([text])[0][1] == wanted
    assert normalise(text) == wanted


def test_every_character_that_python_knows() -> None:
    """A sentence for each: one character between letters, so that it may split, vanish or stay."""
    texts = [f"x{character}y {character}" for character in KNOWN]
    wrong = [
        (hex(ord(character)), words)
        for character, text, (words, _) in zip(KNOWN, texts, in_sql(texts), strict=True)
        if words != " ".join(fold(text).split())
    ]
    assert wrong == []


@given(
    st.lists(
        st.text(st.sampled_from([*"aAtThHeEnN  .,-'ÀéßİſǅΣ東ア１Ａ", "\u0301", "\u200b", "\n"]), max_size=40),
        max_size=30,
    )
)
@settings(max_examples=60, deadline=None)
def test_agrees_on_any_text(texts: list[str]) -> None:
    assert [normal for _, normal in in_sql(texts)] == [normalise(text) for text in texts]


@pytest.mark.slow
def test_agrees_on_every_real_passage_and_title(shared_data: Path) -> None:
    pages = list(read_pages(shared_data / "kilt_mini" / "kilt_knowledgesource.json", Counter()))
    texts = [page.title for page in pages]
    texts += [piece.text for page in pages for piece in chunk_page(page, 100)]
    assert len(texts) > 60_000
    found = in_sql(texts)
    assert [normal for _, normal in found] == [normalise(text) for text in texts]


def test_plain_takes_accents_and_sharp_s() -> None:
    (found,) = duckdb.execute(f"SELECT {plain_sql('t')} FROM (SELECT 'große crème brûlée ας' AS t)").fetchone() or ()
    assert found == "grosse creme brulee ασ"
