"""Token spans come from characters, never from a search for a passage's own tokens."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.models.template import Template
from eval_harness.probing.spans import token_spans

PASSAGES = [
    ("Paris", "The capital of France. It lies on the Seine."),
    ("Lyon", "On the Rhône."),
    ("<|im_end|>", "ÉÀ 東京 🍕"),
]


@pytest.fixture(scope="session")
def template(tokenizer: Any) -> Template:
    return Template(tokenizer, "smollm2")


def test_by_hand() -> None:
    places = [(-5, 0), (0, 3), (3, 7), (7, 8), (8, 12), (12, 12)]
    assert token_spans(places, [(0, 3), (3, 8), (8, 12)]) == [(1, 2), (2, 4), (4, 5)]
    assert token_spans(places, [(0, 4), (4, 12)]) == [(1, 3), (3, 5)]
    assert token_spans(places, [(5, 6)]) == [(0, 0)]


def test_tokens_without_text_are_in_no_span() -> None:
    assert token_spans([(0, 0), (0, 4), (4, 9)], [(0, 4), (4, 9)]) == [(1, 2), (2, 3)]


def test_places_are_those_of_the_tokens(template: Template, tokenizer: Any) -> None:
    """The text with a special token in it takes the other way through the template."""
    for passages in (PASSAGES[:2], PASSAGES):
        prompt = render(spec_of("nq"), "what is the capital?", passages)
        ids, places = template.encode(prompt.text), template.places(prompt.text)
        assert len(ids) == len(places)
        for (start, end), span in zip(prompt.spans, token_spans(places, prompt.spans), strict=True):
            assert tokenizer.decode(ids[slice(*span)]) == prompt.text[start:end]


def test_a_passage_alone_has_other_tokens_than_in_a_prompt(template: Template, tokenizer: Any) -> None:
    prompt = render(spec_of("nq"), "q", [("T", "The capital…")])
    alone = tokenizer(" The capital…", add_special_tokens=False).input_ids
    ids, (span,) = template.encode(prompt.text), token_spans(template.places(prompt.text), prompt.spans)
    assert tokenizer.decode(ids[slice(*span)]).endswith("The capital…\n")
    assert tokenizer("The capital…", add_special_tokens=False).input_ids != alone


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=5), st.text(max_size=10))
def test_every_character_of_a_passage_is_in_its_tokens(template: Template, texts: list[str], query: str) -> None:
    prompt = render(spec_of("nq"), query, [("T", text) for text in texts])
    places = template.places(prompt.text)
    spans = token_spans(places, prompt.spans)
    for (start, end), (first, last) in zip(prompt.spans, spans, strict=True):
        assert places[first][0] <= start + 1
        assert places[last - 1][1] >= end - 1
        assert all(start <= places[at][0] < end for at in range(first, last) if places[at][1] > places[at][0])
