"""One form of titles everywhere, titles that several pages have, and pages whose text begins without a title."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from builders.chunk import chunk_page
from builders.gold import AMBIGUOUS, find_quote, page_numbers_by_title, resolve
from builders.schema import TO_THE_END, Page, Question, Quote, Span
from builders.sources import GIVEN_READERS, PAGE_READERS, QUESTION_READERS
from builders.sources.frames import title_of_link
from builders.sources.titles import first_paragraph, title_key, title_of
from tests.builders.small_corpus import page, small_corpus

BEYONCE = "Beyoncé"


@pytest.mark.parametrize(
    "title",
    ["Beyoncé Knowles", "beyoncé  Knowles", "Beyonc\u00e9__Knowles", "Beyonce\u0301_Knowles", " Beyoncé\u00a0Knowles\n",
     "Beyonc&eacute; Knowles", "\u200eBeyoncé\u3000Knowles_"],
)  # fmt: skip
def test_a_title_has_one_key(title: str) -> None:
    assert title_key(title) == "Beyoncé Knowles"


def test_other_titles_keep_their_own() -> None:
    assert title_key("100% (album)") == "100% (album)"
    assert title_key("ßa") == "ßa"  # whose capital is two letters
    assert title_key("Été") != title_key("Ete")
    assert title_key("") == title_key(" _") == ""


@pytest.mark.parametrize(
    "href, title",
    [
        ("Beyonc%C3%A9", BEYONCE),
        ("Beyonce%CC%81", BEYONCE),
        ("Beyonc%E9", BEYONCE),  # percent-encoded in Latin-1, as old links are
        ("beyoncé__#Life", BEYONCE),
        ("Rock_&#39;n&#39;_Roll#Top", "Rock 'n' Roll"),
        ("C%23", "C#"),
        ("100%25", "100%"),
        ("%", "%"),
    ],
)
def test_titles_of_links(href: str, title: str) -> None:
    assert title_of(href) == title


def test_links_of_frames_in_other_forms() -> None:
    for path in ("Beyonc%C3%A9", "Beyonce%CC%81", normalize("NFD", BEYONCE), "beyonc%c3%a9#x", "Beyonc%C3%A9__"):
        assert title_of_link(f"https://en.wikipedia.org/wiki/{path}") == BEYONCE
    assert title_of_link("https://en.wikipedia.org/w/index.php?title=Beyonce%CC%81_(album)") == "Beyoncé (album)"


def question(answer: str, *quotes: Quote) -> Question:
    return Question("q", "t", "query", [answer], "yesno" if answer == "yes" else "text", [], 1, [], quotes)


def test_quotes_find_their_page_in_any_form(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, [page("1", BEYONCE, "She sang in Zürich."), page("2", "Other", "Words.")])
    asked = question("x", Quote(normalize("NFD", BEYONCE), normalize("NFD", "in Zürich")), Quote("other_", ""))
    titles = page_numbers_by_title(corpus, {quote.title for quote in asked.quotes})
    found, counted = resolve(asked, corpus, titles)
    assert found and found.provenance == [Span("1", 1, 9, 1, 18), Span("2", 1, 0, 1, 6)] and counted == []


def test_a_title_of_several_pages_means_the_one_with_the_answer(tmp_path: Path) -> None:
    pages = [page("1", "Paris", "A town. In Texas."), page("2", "Paris", "A town. In France.")]
    corpus = small_corpus(tmp_path, pages)
    titles = page_numbers_by_title(corpus, {"Paris"})
    for quote in (Quote("Paris", "A town"), Quote("Paris", "")):
        found, _ = resolve(question("France", quote), corpus, titles)
        assert found and {span.page_id for span in found.provenance} == {"2"} and found.flags == (AMBIGUOUS,)
        for answer in ("town", "Rome", "yes"):
            assert resolve(question(answer, quote), corpus, titles) == (None, [AMBIGUOUS])
    only, _ = resolve(question("Rome", Quote("Paris", "In Texas")), corpus, titles)
    assert only and [span.page_id for span in only.provenance] == ["1"] and only.flags == ()


def test_a_title_as_it_is_written_goes_first(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, [page("1", "IPod", "Words."), page("2", "iPod", "Words.")])
    found, _ = resolve(question("x", Quote("iPod", "")), corpus, page_numbers_by_title(corpus, {"iPod"}))
    assert found and [span.page_id for span in found.provenance] == ["2"] and found.flags == ()


def hotpot(tmp_path: Path, **changes: Any) -> tuple[list[Question], Counter[str]]:
    record = {"_id": "1", "question": "q?", "answer": "Texas", "supporting_facts": [["Paris", 0]], "context": []}
    path = tmp_path / "file.json"
    path.write_text(json.dumps([record | changes]))
    counts: Counter[str] = Counter()
    return list(QUESTION_READERS["hotpotqa"](path, "t", counts)), counts


FRANCE, TEXAS = ["Paris", ["It is big.", " In France."]], ["Paris", ["It is big.", " In Texas."]]


@pytest.mark.parametrize("context", [[FRANCE, TEXAS], [TEXAS, FRANCE]])
def test_the_paragraph_with_the_answer_is_meant(tmp_path: Path, context: list) -> None:
    """Two paragraphs of one title: the order in the file does not decide."""
    (found,), counts = hotpot(tmp_path, context=context)
    pages = {p.page_id: p.paragraphs[1] for p in PAGE_READERS["hotpotqa"](tmp_path / "file.json", Counter())}
    assert [pages[span.page_id] for span in found.provenance] == ["It is big. In Texas."]
    assert found.flags == (AMBIGUOUS,) and counts == {"read": 1}
    ((given, _),) = GIVEN_READERS["hotpotqa"](tmp_path / "file.json", "t", Counter())
    assert given.flags == (AMBIGUOUS,)


@pytest.mark.parametrize("answer", ["Rome", "big", "yes", "??"])
def test_an_unclear_title_is_left_out_and_counted(tmp_path: Path, answer: str) -> None:
    assert hotpot(tmp_path, context=[FRANCE, TEXAS], answer=answer) == ([], {"read": 1, AMBIGUOUS: 1})


def test_a_title_is_clear_where_one_paragraph_has_its_facts(tmp_path: Path) -> None:
    short = ["Paris", ["It is small."]]
    facts = [["Paris", 0], ["Paris", 1]]
    (found,), _ = hotpot(tmp_path, context=[short, FRANCE], answer="Rome", supporting_facts=facts)
    assert found.flags == () and len(found.provenance) == 2
    (same,), _ = hotpot(tmp_path, context=[FRANCE, FRANCE], answer="Rome")
    assert same.flags == ()


def test_facts_in_another_unicode_form(tmp_path: Path) -> None:
    """Also of one title twice: it is one hop, and one page."""
    facts = [[normalize("NFD", BEYONCE), 0], [BEYONCE, 0], ["beyoncé__", 0]]
    context = [[BEYONCE, ["In Texas."]], [normalize("NFD", BEYONCE), ["In Texas."]]]
    (found,), counts = hotpot(tmp_path, supporting_facts=facts, context=context)
    assert (found.hops, len(found.provenance), found.flags, counts) == (1, 1, (), {"read": 1})
    assert len(list(PAGE_READERS["hotpotqa"](tmp_path / "file.json", counts))) == 1
    assert counts["repeated_page"] == 1


def kilt(tmp_path: Path, *texts: list[str]) -> tuple[list[Page], Counter[str]]:
    path = tmp_path / "pages.jsonl"
    records = [{"wikipedia_id": str(n), "wikipedia_title": "Tom &amp; J", "text": t} for n, t in enumerate(texts)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    counts: Counter[str] = Counter()
    return list(PAGE_READERS["kilt"](path, counts)), counts


def test_text_0_is_kept_where_it_is_not_the_title(tmp_path: Path) -> None:
    """Provenance goes on counting it as paragraph 0."""
    texts = (["Tom &amp; J\n", "One."], ["tom__& J", "Two."], ["A lead.", "Three."], ["Alone."], ["Tom & J"], [])
    pages, counts = kilt(tmp_path, *texts)
    assert [[piece.text for piece in chunk_page(one)] for one in pages] == [
        ["One."], ["Two."], ["A lead. Three."], ["Alone."],
    ]  # fmt: skip
    assert counts == {"read": 6, "text_0_is_not_the_title": 2, "empty_page": 2}
    corpus = small_corpus(tmp_path, pages)
    whole = question("x")._replace(provenance=[Span(i, 1, 0, TO_THE_END, TO_THE_END) for i in "023"])
    found, counted = resolve(whole, corpus, {})
    assert found and counted == []
    assert found.provenance == [Span("0", 1, 0, 1, 4), Span("2", 0, 0, 1, 6), Span("3", 0, 0, 0, 6)]
    assert resolve(whole._replace(provenance=[Span("2", 0, 2, 0, 6)]), corpus, {})[1] == []
    assert find_quote("lead", ["A lead.", "Three."], first_paragraph("T", ["A lead."])) == (0, 2, 6)
