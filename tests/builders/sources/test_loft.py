"""LOFT's corpus and query files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from builders.schema import TO_THE_END, Span
from builders.sources.loft import READER, read_pages, read_questions


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def passage(pid: Any, text: str = "Some text.") -> dict[str, Any]:
    return {"pid": pid, "title_text": " A &amp; B ", "passage_text": text, "metadata": {}}


def query(**more: Any) -> dict[str, Any]:
    """One of LOFT's own example queries."""
    return {
        "qid": "11879839",
        "query_text": "2009 Indian, or by Chetan Bhagat, novels",
        "metadata": {"qrels": [["quest_154285_0", 1], ["quest_155326_0", 1], ["quest_169419_0", 0]]},
        "answers": ["Five Point Someone", "One Night @ the Call Center", "Five Point Someone"],
        **more,
    }


def questions(path: Path, *records: dict[str, Any]) -> tuple[list[Any], Counter[str]]:
    counts: Counter[str] = Counter()
    return list(read_questions(lines(path, *records), "quest", counts)), counts


def test_each_passage_is_a_page(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    pages = list(read_pages(lines(tmp_path / "c", passage("doc1"), passage("doc2", " "), passage(3)), counts))
    assert [(page.page_id, page.title, page.paragraphs[1]) for page in pages] == [
        ("doc1", "A & B", "Some text."),
        ("3", "A & B", "Some text."),
    ]
    assert counts == {"read": 3, "empty_page": 1}


def test_an_id_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"line 2: pid 'd' occurs twice"):
        list(read_pages(lines(tmp_path / "c", passage("d"), passage("d")), Counter()))


def test_relevant_passages_are_the_provenance(tmp_path: Path) -> None:
    [found], counts = questions(tmp_path / "q", query())
    assert found.id == "quest-11879839"
    assert found.answers == ["Five Point Someone", "One Night @ the Call Center"]
    assert found.provenance == [
        Span("quest_154285_0", 1, 0, TO_THE_END, TO_THE_END),
        Span("quest_155326_0", 1, 0, TO_THE_END, TO_THE_END),
    ]
    assert (found.hops, found.answer_kind, READER.gold) == (2, "text", "all")
    assert counts == {"read": 1}


def test_what_cannot_be_built_is_counted(tmp_path: Path) -> None:
    unanswered, unjudged = query(answers=[]), query(metadata={"qrels": [["d", 0]]})
    found, counts = questions(tmp_path / "q", query(query_text=["a", "b"]), unanswered, unjudged, query(query_text=" "))
    assert found == []
    assert counts == {"read": 4, "several_turns": 1, "no_answer": 1, "no_gold": 1, "empty_input": 1}


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"metadata": {"qrels": [["d"]]}}, r"metadata\.qrels\[0\] is a list, wanted \[pid, relevance\]"),
        ({"metadata": {"qrels": [["d", "1"]]}}, r"metadata\.qrels\[0\] is a list, wanted \[pid, relevance\]"),
        ({"metadata": {}}, r"metadata\.qrels is missing, wanted a list"),
        ({"answers": [["doc35916", 1]]}, r"answers\[0\] is a list, wanted a string"),
    ],
)
def test_a_field_of_another_type_is_named(more: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=says):
        questions(tmp_path / "q", query(**more))


def test_lofts_own_examples(shared_data: Path) -> None:
    folder = shared_data / "loft"
    asked, counts = [], Counter[str]()
    for task in ("rag_nq", "rag_quest"):
        asked += list(read_questions(folder / "example_predictions" / task / "queries.jsonl", task, counts))
    assert len(asked) == counts["read"] == 20
    pages = list(read_pages(folder / "nq_128k_corpus_from_prompt.jsonl", Counter()))
    assert (len(pages), pages[0].title) == (875, "English compound")
