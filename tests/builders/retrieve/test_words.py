"""Words of every script, in one Unicode form."""

from pathlib import Path
from unicodedata import normalize

import pytest

from builders.retrieve.base import Query
from builders.retrieve.lexical import lucene_terms
from builders.retrieve.tfidf import ngrams
from builders.retrieve.words import has_content, words_of
from builders.schema import Question
from builders.stages.retrieval import query_of
from tests.builders.retrieve.indexed import indexed, texts

LANGUAGES = {
    "Vietnamese": "Tiếng Việt",
    "Korean": "한국어 낱말",
    "Czech": "žluťoučký kůň",
    "French": "Élysée château",
    "Hindi": "क़िला ज़मीन",  # letters with a nukta, which NFC writes as two characters
    "Greek": "Ἀθῆναι ᾠδή",
    "Japanese": "ガラス パン",
}


@pytest.mark.parametrize("kind", ["bm25", "bm25s", "tfidf"])
def test_text_in_another_unicode_form_is_found(tmp_path: Path, kind: str) -> None:
    """Pages in NFC and queries in NFD, and the other way round."""
    for form, other in (("NFC", "NFD"), ("NFD", "NFC")):
        (tmp_path / form).mkdir()
        pages = texts(*(normalize(form, text) for text in LANGUAGES.values()), "none of these")
        found = indexed(tmp_path / form, pages, kind, k=1).hits(*(normalize(other, t) for t in LANGUAGES.values()))
        assert [hits[0].row if hits else None for hits in found] == list(range(len(LANGUAGES)))


def test_a_query_is_composed() -> None:
    question = Question("q", "t", normalize("NFD", "wo ist Zürich?"), [normalize("NFD", "Café")], "text", [], 1, [])
    assert query_of(question) == Query("q", "wo ist Zürich? Café")


@pytest.mark.parametrize(
    "word",
    [
        "हिन्दी", "தமிழ்", "తెలుగు", "বাংলা", "ગુજરાતી", "ਪੰਜਾਬੀ", "മലയാളം", "සිංහල", "ภาษาไทย", "ພາສາລາວ", "မြန်မာ", "ខ្មែរ",
        "བོད་"[:-1], "العَرَبِيَّة", "שָׁלוֹם", "ދިވެހި", "አማርኛ", "q̃ẅ́x̌", "𑀩𑁆𑀭𑀸𑀳𑁆𑀫𑀻", "می\u200cخواهم", "ක්\u200dෂ", "e\u20ddx",
    ],
)  # fmt: skip
def test_a_word_stays_whole(word: str) -> None:
    """Combining marks and joiners are inside words, whatever the script."""
    assert words_of(f"x {word}, {word}.") == ["x", word, word]
    assert lucene_terms()(f"{word} {word}") == [word, word]
    assert ngrams(f"{word}; {word}") == [word, word]


def test_words_of_latin_script() -> None:
    assert words_of("The snake_case isn't Æther-ŐSZ 3rd ½") == [
        "the", "snake_case", "isn", "t", "æther", "ősz", "3rd", "½",
    ]  # fmt: skip


def test_characters_of_a_script_without_spaces_are_words() -> None:
    """As in answers and in the chunker; a sentence would otherwise be one word, which no query has."""
    assert words_of("東京は日本") == ["東", "京", "は", "日", "本"]
    assert ngrams("東京 x") == ["東", "京", "x", "東 京", "京 x"]


def test_a_capital_without_a_composed_form_of_its_own() -> None:
    """J with a caron is two characters, and its lower case is one."""
    assert words_of("J\u030cx") == words_of("\u01f0x") == ["\u01f0x"]
    assert ngrams("J\u030cx") == ["\u01f0x"]


def test_text_without_content() -> None:
    assert has_content(normalize("NFD", "ü")) and not has_content("the ??")


def test_japanese_is_found_without_java(tmp_path: Path) -> None:
    pages = texts("東京は日本の首都です。", "大阪は西日本の都市です。")
    assert indexed(tmp_path, pages, "bm25s").rows("首都") == [0, 1]


def test_hindi_finds_words_and_not_their_parts(tmp_path: Path) -> None:
    """Torn at its marks, the query's one word is the letters of the other page."""
    assert indexed(tmp_path, texts("ह न द", "हिन्दी"), "bm25s").rows("हिन्दी") == [1]
