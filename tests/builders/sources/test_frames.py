"""FRAMES: links to titles, and all questions read as an independent reading counts them."""

import ast
import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from builders.schema import Question
from builders.sources.frames import read_questions, reasoning_types, title_of_link

WIKI = "https://en.wikipedia.org/wiki/"
LINK_COLUMNS = [*(f"wikipedia_link_{n}" for n in range(1, 11)), "wikipedia_link_11+"]

TYPES = {  # of the file, by grep
    "Multiple constraints": 549,
    "Numerical reasoning": 293,
    "Temporal reasoning": 278,
    "Tabular reasoning": 236,
    "Post processing": 107,
}

LINKS = {
    f"{WIKI}Groundhog_Day#History": "Groundhog Day",  # a page linked in several forms
    f"{WIKI}Groundhog%20Day": "Groundhog Day",  # a page linked in several forms
    f"{WIKI}AT%26T": "AT&T",
    f"{WIKI}C%27%C3%A8_la_luna_mezzo_mare#Notable_recordings": "C'è la luna mezzo mare",
    f"{WIKI}What%3F_(film)": "What? (film)",
    f"{WIKI}AC/DC_discography#Live_albums": "AC/DC discography",
    f"{WIKI}Prague#:~:text=Prague%20is%20located%20at,N%2014%C2%B025%E2%80%B2E.": "Prague",
    f"{WIKI}iPhone_X": "IPhone X",
    "https://en.m.wikipedia.org/wiki/Kodansha": "Kodansha",
    "en.wikipedia.org/wiki/Grazia_Deledda": "Grazia Deledda",
    "http://en.wikipedia.org/wiki/Tick": "Tick",
    "https://en.wikipedia.org/w/index.php?title=Bronco&redirect=no": "Bronco",
    "https://en.wikipedia.org/w/index.php?search=Polytrichum+piliferum&title=Special:Search": None,
    "https://w.wiki/ASFv": None,
    "https://simple.wikipedia.org/wiki/Video_assistant_referee": None,
    WIKI: None,
}


@pytest.mark.parametrize(("link", "title"), LINKS.items())
def test_title_of_a_link(link: str, title: str | None) -> None:
    """Percent-encoding, fragments."""
    assert title_of_link(link) == title


def record(**fields: Any) -> dict[str, Any]:
    links = dict.fromkeys(LINK_COLUMNS, "")
    base = {"id": "7", "Prompt": " Who? ", "Answer": "Ann", "reasoning_types": "Post processing", "wiki_links": "[]"}
    return base | links | fields


def read(tmp_path: Path, *records: dict[str, Any]) -> tuple[list[Question], Counter[str]]:
    path, counts = tmp_path / "frames.jsonl", Counter[str]()
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return list(read_questions(path, "frames", counts)), counts


def titles(question: Question) -> list[str]:
    assert {quote.quote for quote in question.quotes} <= {""}
    return [quote.title for quote in question.quotes]


def test_one_page_linked_twice_is_one_gold_page(tmp_path: Path) -> None:
    """With a fragment, percent-encoded, and in the list beside the columns."""
    (found,), counts = read(
        tmp_path,
        record(
            wikipedia_link_1=f"{WIKI}Groundhog_Day#History",
            wikipedia_link_2=f"{WIKI}Groundhog%20Day",
            wiki_links=str([f"{WIKI}Groundhog_Day", f"{WIKI}Tick"]),
        ),
    )
    assert (titles(found), found.hops, found.provenance) == (["Groundhog Day", "Tick"], 2, [])
    assert (found.id, found.query, found.answers, found.answer_kind) == ("frames-7", "Who?", ["Ann"], "text")
    assert +counts == {"read": 1}


@pytest.mark.parametrize(
    "cell",
    [
        f"{WIKI}River_Avon,_Bristol, {WIKI}Paris,_Texas, ",
        f"{WIKI}River_Avon,_Bristol,{WIKI}Paris,_Texas (NOT REQUIRED, BUT HELPFUL)",
        f"{WIKI}River_Avon,_Bristol\n{WIKI}Paris,_Texas",
    ],
)
def test_a_cell_with_several_links(cell: str, tmp_path: Path) -> None:
    """Titles hold commas too, and a note may follow."""
    (found,), _ = read(tmp_path, record(**{"wikipedia_link_11+": cell}))
    assert titles(found) == ["River Avon, Bristol", "Paris, Texas"]


def test_a_link_without_a_title_stays_a_gold_article(tmp_path: Path) -> None:
    """It is needed for the answer, so the question must not pass for one whose articles are all there."""
    (found,), counts = read(tmp_path, record(wikipedia_link_1=f"{WIKI}Tick", wikipedia_link_2="https://w.wiki/ASFv"))
    assert titles(found) == ["Tick", "https://w.wiki/ASFv"]
    assert counts["link_without_title"] == 1


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    link = {"wikipedia_link_1": f"{WIKI}Tick"}
    found, counts = read(tmp_path, record(), record(Prompt=" ", **link), record(Answer="", **link))
    assert (found, +counts) == ([], {"read": 3, "no_gold": 1, "empty_input": 1, "no_answer": 1})


def test_a_list_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"line 1: wiki_links is a string, wanted a list of links"):
        read(tmp_path, record(wiki_links="['https://"))


def test_the_publishers_table_reads_as_its_records(tmp_path: Path) -> None:
    """The Hub's copy is a table with tabs whose first column has no name."""
    mine = record(id="0", Prompt='He said "tab\there",\nthen?', wikipedia_link_1=f"{WIKI}Tick", reasoning_types="A | B")
    path = tmp_path / "test.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(["", *list(mine)[1:]])
        writer.writerow(list(mine.values()))
    assert list(read_questions(path, "frames", Counter())) == read(tmp_path, mine)[0]


def test_reasoning_types_are_split_and_stripped() -> None:
    assert reasoning_types("Tabular reasoning | Post processing |Tabular reasoning ") == [
        "Tabular reasoning",
        "Post processing",
    ]
    assert reasoning_types("") == []


def test_all_824_questions(shared_data: Path) -> None:
    """Counted by another reading: of the raw lines, with no link or title code of ours."""
    path, counts = shared_data / "frames" / "frames_test.jsonl", Counter[str]()
    found = list(read_questions(path, "frames", counts))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (len(found), len(lines), counts["read"]) == (824, 824, 824)
    assert +counts == {"read": 824, "link_without_title": 3}  # 88: a search, 495: w.wiki, 823: simple.wikipedia.org
    assert Counter(name for question in found for name in question.reasoning_types) == TYPES
    assert {name: sum(f" {name} |" in f" {types_in(line)} |" for line in lines) for name in TYPES} == TYPES
    raw = {fields["id"]: fields for fields in map(json.loads, lines)}
    for question in found:
        fields = raw[question.id.removeprefix("frames-")]
        written = " ".join([fields[name] for name in LINK_COLUMNS])
        assert question.hops == len({_page(link) for link in written.replace(", ", " ").split() if "/" in link})
        assert set(ast.literal_eval(fields["wiki_links"])) == {fields[name] for name in LINK_COLUMNS if fields[name]}
        assert (question.query, question.answers[0]) == (fields["Prompt"].strip(), fields["Answer"].strip())


def types_in(line: str) -> str:
    """The raw cell of a line."""
    return " ".join(re.findall(r'"reasoning_types": "([^"]*)"', line)[0].split())


def _page(link: str) -> str:
    """A link without its fragment, host and notation, which is one for each page of this file."""
    page = re.sub(r"^(https://)?en\.(m\.)?wikipedia\.org/wiki/", "", link.split("#")[0].strip(","))
    for code, letter in (("%20", " "), ("%27", "'"), ("%28", "("), ("%29", ")"), ("%2C", ","), ("_", " ")):
        page = page.replace(code, letter)
    return page.strip()


def test_known_questions(shared_data: Path) -> None:
    """Read by eye from the file."""
    path = shared_data / "frames" / "frames_test.jsonl"
    found = {question.id: question for question in read_questions(path, "frames", Counter())}
    assert titles(found["frames-0"]) == [
        "President of the United States",
        "James Buchanan",
        "Harriet Lane",
        "List of presidents of the United States who died in office",
        "James A. Garfield",
    ]
    assert titles(found["frames-230"])[-2:] == ["Tim Salmon", "Troy Glaus"]
    assert titles(found["frames-90"])[-3:] == ["American Family Field", "LoanDepot Park", "Globe Life Field"]
    assert "Pokémon" in titles(found["frames-644"])
    assert {"Grazia Deledda", "List of female Nobel laureates"} <= set(titles(found["frames-226"]))
