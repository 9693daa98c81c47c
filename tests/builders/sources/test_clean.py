"""Entities and markers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.sources.clean import clean, decode_entities, strip_markers


@pytest.mark.parametrize(
    "raw, want",
    [
        ("AT&amp;amp;T", "AT&amp;T"),
        ("&not a", "&not a"),
        ("R&D", "R&D"),
        ("&#9999999999;", "&#9999999999;"),
        ("&#1114112;", "&#1114112;"),
        ("&#xD800;", "&#xD800;"),
        ("&#0;", "&#0;"),
        ("&#150;", "&#150;"),
        ("&nosuchname;", "&nosuchname;"),
        ("caf&eacute; &#8211; &#x2013; &#00065;", "café – – A"),
        ("&quot;a&quot; &lt;b&gt;", '"a" <b>'),
    ],
)
def test_entities_are_decoded_once_and_only_where_they_are_whole(raw: str, want: str):
    """HTML entities."""
    assert decode_entities(raw) == want
    assert clean(raw).text == want


@pytest.mark.parametrize(
    "raw, want",
    [
        ("BULLET::::- Paris is large.", " Paris is large."),
        ("BULLET::::1. First.", "1. First."),
        ("BULLET::::-5 degrees", "-5 degrees"),
        ("a\nBULLET::::- b BULLET::::- c", "a\n b  c"),
        ("Section::::A", "Section::::A"),
    ],
)
def test_list_markers(raw: str, want: str):
    """The markers of list items."""
    assert strip_markers(raw) == want
    assert clean(raw).text == want


def test_way_back_to_the_raw_text():
    raw = "BULLET::::- A&amp;B &hearts; c"
    text, starts, ends = clean(raw)
    assert text == " A&B ♥ c"
    assert [raw[starts[at] : ends[at]] for at in range(len(text))] == [
        " ",
        "A",
        "&amp;",
        "B",
        " ",
        "&hearts;",
        " ",
        "c",
    ]


_BITS = st.sampled_from(["a", " ", "&amp;", "&", ";", "BULLET::::- ", "BULLET::::", "&NotEqualTilde;", "é"])


@given(st.lists(_BITS, max_size=12).map("".join) | st.text(max_size=40))
def test_every_character_stands_where_it_says(raw: str):
    text, starts, ends = clean(raw)
    assert len(text) == len(starts) == len(ends)
    assert list(starts) == sorted(starts)
    assert all(decode_entities(raw[s:e]).count(char) for char, s, e in zip(text, starts, ends, strict=True))
