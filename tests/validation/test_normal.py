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
from builders.text import fold, gives_away, marked, normalise
from validation.normal import (
    folded_sql,
    gives_away_sql,
    has_mark_sql,
    marked_words_sql,
    normal_sql,
    plain_sql,
    words_sql,
)

KNOWN = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]


def in_sql(texts: Sequence[str]) -> list[tuple[str, str, str]]:
    """The words, the normal form and the form with marks of each text, by DuckDB."""
    connection = duckdb.connect()
    connection.register("given", pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.large_string())}))
    return connection.execute(f"""SELECT words, {normal_sql("words")}, {normal_sql("with_marks")} FROM (
        SELECT *, {marked_words_sql("folded", "words")} AS with_marks FROM (
            SELECT *, {words_sql("folded")} AS words FROM (SELECT n, {folded_sql("text")} AS folded FROM given)))
        ORDER BY n""").fetchall()


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
        ("İstanbul I", "i\u0307stanbul i"),
        ("東京タワー", "東 京 タ ワ ー"),
        ("O’Neil", "o neil"),
        ("1990–1995", "1990 1995"),
        ("", ""),
        (" !? ", ""),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ΣΑΣ ς ﬁ ŉ ᾼ", "σασ σ fi ʼn αι"),
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
        for character, text, (words, _, _) in zip(KNOWN, texts, in_sql(texts), strict=True)
        if words != " ".join(fold(text).split())
    ]
    assert wrong == []


def test_digits_and_currency_signs_of_every_script() -> None:
    """Digits compare as numbers, and the sign of an amount is a word, whichever side it stands on."""
    digits = [char for char in KNOWN if unicodedata.category(char) == "Nd"]
    signs = [char for char in KNOWN if unicodedata.category(char) == "Sc"]
    texts = [f"-{char}{char}.{char}0 x{char}" for char in digits]
    texts += [text for sign in signs for text in (f"{sign}5.00", f"5 {sign}", f"x{sign}y 5", f"-{sign}5-{sign}6")]
    assert len(digits) > 600 and len(signs) > 50
    assert [forms[1:] for forms in in_sql(texts)] == [(normalise(text), marked(text)) for text in texts]
    assert [forms[2] for forms in in_sql(["−٢٢.٢٠", "€5", "5.00€", "x€y", "-₹5–₹6"])] == [
        "-22.2",
        "5 euros",
        "5 euros",
        "x y",
        "-5 rupees 6 rupees",
    ]


MARKS = [
    *"aCc05  ..,,''--++##**$$%€−–\u2011﹣⁻⁺﹢﹩♯’＋％٢٫/^²é\n\x01\x03\x10",
    "000",
    ".50",
    "-5",
    "per",
    "cent",
    " million",
    "*a*",
]


@given(
    st.lists(
        st.text(st.sampled_from([*"aAtThHeEnN  .,-'ÀéßİſǅΣ東ア１Ａ", "\u0301", "\u200b", "\n"]), max_size=40)
        | st.lists(st.sampled_from(MARKS), max_size=14).map("".join),
        max_size=30,
    )
)
@settings(max_examples=80, deadline=None)
def test_agrees_on_any_text(texts: list[str]) -> None:
    assert [forms[1:] for forms in in_sql(texts)] == [(normalise(text), marked(text)) for text in texts]


MARKED = ["C++", "C", "-5", "5", "5.0", "1,000", "1000", "A", "A+", "50%", "Straße", "29.00", "AB-", "Google"]
MARKED += ["A*", ".NET", "NET", "€5", "$5", "2024"]
TEXTS = [
    "Vitamin C is an acid.",
    "C++20 is new",
    "-5 or 1,000.00",
    "It is 5",
    "A cat",
    "A+ or AB−",
    "50 per cent",
    "STRASSE 29",
    "Google+",
    "A* in .NET",
    "the net of 5 euros",
    "$5.00",
    "٢٠٢٤",
]


def test_what_gives_an_answer_away_is_the_rule_of_the_builder() -> None:
    """By hand in tests/builders/test_text.py; here every pair."""
    answers = dict(zip(MARKED, in_sql(MARKED), strict=True))
    texts = dict(zip(TEXTS, in_sql(TEXTS), strict=True))
    rows = [
        (answer, text, normal, kept, kept == "a", plain, None if full == plain else full)
        for answer, (_, normal, kept) in answers.items()
        for text, (_, plain, full) in texts.items()
    ]
    names = ["answer", "given", "normal", "marked", "article", "plain", "full"]
    connection = duckdb.connect()
    connection.register("a", pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))))
    words = "CASE WHEN given LIKE 'A %' THEN 'a cat' ELSE coalesce(full, plain) END"
    connection.execute(f"CREATE TABLE b AS SELECT *, {has_mark_sql('marked')} AS has_mark FROM a")
    asked = f"SELECT answer, given, {gives_away_sql('b', words, 'plain', 'full')} FROM b"
    found = {
        (answer, text) for answer, text, held in connection.execute(asked.replace("full", '"full"')).fetchall() if held
    }
    assert found == {(answer, text) for answer in MARKED for text in TEXTS if gives_away(answer, text)}


@pytest.mark.slow
def test_agrees_on_every_real_passage_and_title(shared_data: Path) -> None:
    pages = list(read_pages(shared_data / "kilt_mini" / "kilt_knowledgesource.json", Counter()))
    texts = [page.title for page in pages]
    texts += [piece.text for page in pages for piece in chunk_page(page, 100)]
    assert len(texts) > 60_000
    found = in_sql(texts)
    assert [forms[1:] for forms in found] == [(normalise(text), marked(text)) for text in texts]


def test_plain_takes_accents_and_sharp_s() -> None:
    normal = in_sql(["große crème brûlée ας"])[0][1]
    (found,) = duckdb.execute(f"SELECT {plain_sql('t')} FROM (SELECT ? AS t)", [normal]).fetchone() or ()
    assert found == "grosse creme brulee ασ"
