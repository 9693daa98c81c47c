"""The normaliser's right values are written by hand from its definition."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.text import contains, first_answer_in, fold, gives_away, is_article, loses_mark, marked, normalise


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
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("STRAẞE", "strasse"),
        ("İstanbul", "i\u0307stanbul"),  # its case folding has two characters
        ("i\u0307STANBUL", "i\u0307stanbul"),  # as Python's lower case writes it
        ("Οδυσσεύς", "οδυσσεύσ"),  # a final sigma is a sigma
        ("ΟΔΥΣΣΕΎΣ", "οδυσσεύσ"),
        ("ﬁn ŉ ſ", "fin ʼn s"),
        ("ＳＴＲＡẞＥ", "strasse"),
        ("J\u030c", "ǰ"),  # composed again once it is folded
        ("ᾼ", "αι"),
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


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("-5", "-5"),
        ("−5", "-5"),
        ("(–5 °C)", "-5 c"),
        ("\u20115", "-5"),  # a hyphen that does not break a line
        ("\u20105", "-5"),
        ("﹣5", "-5"),
        ("⁻5", "-5"),
        ("covid\u201119", "covid 19"),
        ("10⁻⁶", "10 ⁶"),
        ("C﹢﹢", "c++"),
        ("Ca²⁺", "ca²+"),
        ("C﹟", "c#"),
        ("5﹪", "5 percent"),
        ("﹩5", "5 dollars"),
        ("-$5", "-5 dollars"),
        ("-5, -6", "-5 -6"),
        ("+5", "5"),
        ("-0.0", "0"),
        ("1990-1995", "1990 1995"),
        ("1990 –1995", "1990 1995"),  # a range, though its dash stands against one year
        ("covid-19", "covid 19"),
        ("f(x)-5", "f x 5"),
        ("29.00", "29"),
        ("29.50", "29.5"),
        (".5", "0.5"),
        ("0.50.", "0.5"),
        ("1,000", "1000"),
        ("1,000,000.50", "1000000.5"),
        ("1’000", "1000"),
        ("1\u00a0000", "1000"),
        ("１，０００", "1000"),
        ("1,00", "1 00"),  # no group of three
        ("1,2,3", "1 2 3"),
        ("12.5.1990", "12 5 1990"),
        ("007", "007"),
        ("5.0km", "5 0km"),
        ("C++", "c++"),
        ("C++11", "c++ 11"),
        ("C", "c"),
        ("C#", "c#"),
        ("C♯", "c#"),
        ("#5", "5"),
        ("A+", "a+"),
        ("Ca2+", "ca2+"),
        ("50+", "50"),
        ("AB- AB−", "ab- ab-"),
        ("well- known", "well known"),
        ("so--he", "so he"),
        ("50%", "50 percent"),
        ("50 per cent", "50 percent"),
        ("U.S.", "u s"),
        ("“Hamlet”", "hamlet"),
        ("\x01b\x03\x10 5", "b 5"),  # codes that the rules use inside
        ("F#", "f#"),
        (".NET", ".net"),
        ("(.NET)", ".net"),
        ("ASP.NET", "asp net"),
        ("e.g. so", "e g so"),
        ("...and", "and"),
        ("A*", "a*"),
        ("Sgr A*, A* search", "sgr a* a* search"),
        ("*A*", "a"),  # emphasis
        ("**Vitamin B**", "vitamin b"),
        ("*Vitamin C*", "vitamin c"),
        ("Paris*", "paris"),  # a footnote's
        ("$5", "5 dollars"),
        ("$5.00", "5 dollars"),
        ("$1,000.50", "1000.5 dollars"),
        ("€5", "5 euros"),
        ("5 €", "5 euros"),
        ("$5 million", "5 million dollars"),
        ("$5–$10", "5 dollars 10 dollars"),
        ("US$5", "us 5 dollars"),
        ("¤5", "5 currency"),
        ("$5$", "5"),  # a formula
        ("Ke$ha", "ke ha"),
        ("1e3", "1e3"),
        ("10^6", "10 6"),
        ("10⁶", "10⁶"),
        ("1/2", "1 2"),
        ("1990-95", "1990 95"),
        ("1.000", "1"),  # a point is never a separator of groups
        ("٢٠٢٤", "2024"),
        ("२०२४", "2024"),
        ("-٣٫٥٠", "-3.5"),
        ("٢٬٠٢٤", "2024"),
        ("५०٪", "50 percent"),
    ],
)
def test_marks_that_carry_meaning(text: str, form: str) -> None:
    assert marked(text) == form


@pytest.mark.parametrize(
    ("answer", "text", "found"),
    [
        ("C++", "Vitamin C is an acid.", False),
        ("C++", "It is written in C++.", True),
        ("C++", "It is written in C++20.", True),
        ("C", "It is written in C++.", True),  # an answer without a mark may leak with any
        ("-5", "It has 5 legs.", False),
        ("-5", "It fell to −5.0 degrees.", True),
        ("5", "It fell to -5.", True),
        ("5", "It costs 5.00 a day.", True),
        ("1000", "Some 1,000 people", True),
        ("1,000", "Some 1000 people", True),
        ("29.00", "It is 29 years old.", True),
        ("50%", "50 per cent of it", True),
        ("A+", "A cat sat.", False),
        ("A", "A cat sat.", True),
        ("Straße", "KURZE STRASSE", True),
        ("??", "anything", False),
        (".NET", "Fish in the net.", False),
        (".NET", "It runs on .NET 8.", True),
        ("NET", "It runs on .NET 8.", True),
        ("A*", "Vitamin A is one.", False),
        ("A*", "It uses A* search.", True),
        ("F#", "It ends in F.", False),
        ("€5", "It has 5 legs.", True),  # a currency may be spelled in many ways
        ("€5", "It costs 5 euros.", True),
        ("2024", "سنة ٢٠٢٤", True),
        ("२०२४", "in 2024", True),
        ("1/2", "12 of them", False),
    ],
)
def test_what_gives_an_answer_away(answer: str, text: str, found: bool) -> None:
    assert gives_away(answer, text) is found


@pytest.mark.parametrize(
    ("answer", "text", "found"),
    [("C", "It is written in C++.", False), ("5", "It fell to -5.", False), ("5", "2.5", False), ("29", "29.00", True)],
)
def test_containment_regards_marks(answer: str, text: str, found: bool) -> None:
    assert contains(answer, text) is found


def test_which_answers_lose_a_mark() -> None:
    assert all(map(loses_mark, ["-5", "C++", "C#", "AB-", "50%", "$5", "5 €", ".NET", "A*"]))
    assert not any(map(loses_mark, ["5", "29.00", "1,000", "O’Neil", "50 percent", "5 euros", "1990–1995", "٢٠٢٤", ""]))


PLAIN = st.lists(st.sampled_from([*"aAxß .,;:'’\"()東é", "per", "U.S.", "St.", "007", " 12 "]), max_size=12)


@given(PLAIN.map("".join))
def test_ordinary_text_has_no_marks(text: str) -> None:
    """Without a sign, a mark, or digits joined by a point, comma or apostrophe, both forms are the same."""
    if not re.search(r"[0-9][.,'’]+[0-9]|[.]\w", text):
        assert marked(text) == normalise(text)
