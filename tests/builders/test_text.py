"""The normaliser's right values are written by hand from its definition."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.text import contains, first_answer_in, fold, is_article, normalise


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Beatles", "beatles"),
        ("Dakota", "dakota"),  # no article inside a word
        ("  An  apple,\na day ", "apple day"),
        ("O’Neil", "o neil"),
        ("O'Neil", "o neil"),
        ("1990–1995", "1990 1995"),
        ("１９９０", "1990"),
        ("“Hamlet”", "hamlet"),
        ("the thé", "thé"),  # articles are dropped from composed text
        ("the\u0301", "thé"),
        ("Á", "á"),
        ("A", "a"),  # dropping it would leave nothing
        ("The The", "the the"),  # an answer of articles alone
        ("??", ""),
        ("", ""),
        ("Straße", "straße"),
        ("İstanbul", "İstanbul"),  # its lower case has two characters
        ("東京タワー 2", "東 京 タ ワ ー 2"),
        ("x² + y²", "x² y²"),
        ("a\x00b", "b"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(st.text())
def test_normalise_is_idempotent_and_clean(text: str) -> None:
    normal = normalise(text)
    assert normalise(normal) == normal
    assert re.fullmatch(r"(\S+( \S+)*)?", normal)
    assert all(unicodedata.category(char)[0] in "LMN" or char == " " for char in normal)


@pytest.mark.parametrize(
    ("answer", "text", "found"),
    [
        ("no", "The northern coast is known", False),  # a short answer inside another word
        ("no", "There is no coast", True),
        ("12", "in 312 BC", False),
        ("A", "A cat sat.", True),  # an article is looked for as a word
        ("A", "Oslo has trams.", False),
        ("Prussia", "the Franco-Prussia border", True),
        ("Hamlet", "Hamlet's author", True),
        ("Hamlet", "Hamlets", False),
        ("U.S. (1990)", "UxS. 1990", False),  # no character is a wildcard
        ("U.S. (1990)", "In the U.S. (1990) it", True),
        ("thé", "café", False),  # accents
        ("The Beatles", "Beatles", True),
        ("", "anything", False),
        ("??", "anything ?? at all", False),
        ("京", "東京", True),
        ("new york", "New\u00a0York", True),
    ],
)
def test_contains_on_word_borders(answer: str, text: str, found: bool) -> None:
    assert contains(answer, text) is found


@given(st.text(min_size=1), st.text(), st.text())
def test_an_answer_set_between_spaces_is_found(answer: str, before: str, after: str) -> None:
    if normalise(answer):
        assert contains(answer, f"{before} {answer} {after}") or is_article(normalise(answer)) or _merges(answer, after)


def _merges(answer: str, after: str) -> bool:
    """Composition can join a mark that begins a text with the space before it: nothing a reader would see."""
    return any(unicodedata.category(c)[0] == "M" for c in (answer[:1], after[:1]) if c)


def test_first_answer_in() -> None:
    assert first_answer_in("She lived in Rome, then Paris.", ["Paris", "Rome"]) == "Paris"
    assert first_answer_in("She lived in Oslo.", ["Paris", "Rome"]) is None


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_table_for_ascii_is_the_rule(text: str) -> None:
    assert fold(text) == "".join(char.lower() if char.isalnum() else " " for char in text)
