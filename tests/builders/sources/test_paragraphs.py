"""HotpotQA, 2WikiMultiHopQA and MuSiQue: paragraphs become pages, supporting facts become spans."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from builders.schema import Page, Question, Span
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.sources.paragraphs import page_id_of

HOTPOT = {
    "_id": "5a",
    "question": "Which &amp; what?",
    "answer": "yes",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["A", 1], ["B", 0]],
    "context": [["A", ["One.", " Two."]], ["B", ["Three."]], ["C", ["Four."]]],
}
MUSIQUE = {
    "id": "2hop__1_2",
    "question": "who",
    "answer": "Ann",
    "answer_aliases": ["Anne", "Ann"],
    "answerable": True,
    "question_decomposition": [{"id": 1}, {"id": 2}],
    "paragraphs": [
        {"idx": 0, "title": "A", "paragraph_text": "One.", "is_supporting": True},
        {"idx": 1, "title": "B", "paragraph_text": "Two.", "is_supporting": False},
        {"idx": 2, "title": "A", "paragraph_text": "Three.", "is_supporting": True},
    ],
}


def questions(tmp_path: Path, reader: str, *records: dict[str, Any]) -> tuple[list[Question], Counter[str]]:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(list(records)))
    counts: Counter[str] = Counter()
    return list(QUESTION_READERS[reader](path, "task", counts)), counts


def pages(tmp_path: Path, reader: str, *records: dict[str, Any]) -> tuple[list[Page], Counter[str]]:
    path = tmp_path / "file.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    counts: Counter[str] = Counter()
    return list(PAGE_READERS[reader](path, counts)), counts


def text_at(page: Page, span: Span) -> str:
    return page.paragraphs[span.start_paragraph][span.start_character : span.end_character]


def test_page_ids_depend_on_title_and_text():
    ids = {page_id_of("A", "x"), page_id_of("A", "y"), page_id_of("B", "x")}
    assert len(ids) == 3 and all(len(i) == 16 and int(i, 16) >= 0 for i in ids)


def test_hotpotqa(tmp_path: Path):
    (question,), counts = questions(tmp_path, "hotpotqa", HOTPOT)
    found, _ = pages(tmp_path, "hotpotqa", HOTPOT)
    assert [page.paragraphs for page in found] == [["A", "One. Two."], ["B", "Three."], ["C", "Four."]]
    assert question.id == "task-5a" and question.query == "Which & what?"
    assert question.answer_kind == "yesno" and question.hops == 2 and question.reasoning_types == ["bridge"]
    assert [s.page_id for s in question.provenance] == [found[0].page_id, found[1].page_id]
    assert [text_at(page, s) for page, s in zip(found, question.provenance, strict=False)] == ["Two.", "Three."]
    assert counts == {"read": 1}


def test_twowiki_joins_sentences_with_a_space(tmp_path: Path):
    record = HOTPOT | {"context": [["A", ["One.", "Two."]], ["B", ["Three."]]]}
    (question,), _ = questions(tmp_path, "twowiki", record)
    found, _ = pages(tmp_path, "twowiki", record)
    assert found[0].paragraphs == ["A", "One. Two."]
    assert text_at(found[0], question.provenance[0]) == "Two."


def test_twowiki_corpus(tmp_path: Path):
    found, counts = pages(tmp_path, "twowiki", {"title": "A&amp;B", "text": "x"}, {"title": "C", "text": " "})
    assert found == [Page(page_id_of("A&amp;B", "x"), "A&B", ["A&amp;B", "x"], [])]
    assert counts == {"read": 2, "empty_page": 1}


def test_repeated_paragraphs_are_one_page(tmp_path: Path):
    found, counts = pages(tmp_path, "hotpotqa", HOTPOT, HOTPOT)
    assert len(found) == 3 and counts == {"read": 2, "repeated_page": 3}


def test_fact_past_the_end_is_skipped(tmp_path: Path):
    """Neither an IndexError nor, for -1, the last sentence."""
    facts = [["A", 9], ["A", 0], ["B", -1], ["B", 0]]
    (question,), counts = questions(tmp_path, "hotpotqa", HOTPOT | {"supporting_facts": facts})
    assert [span[2:] for span in question.provenance] == [(0, 1, 4), (0, 1, 6)]
    assert counts == {"read": 1, "span_bad_pid": 2}


def test_question_that_loses_a_page_is_left_out(tmp_path: Path):
    for facts in ([["A", 0], ["B", 7]], [["A", 0], ["Z", 0]], []):
        found, counts = questions(tmp_path, "hotpotqa", HOTPOT | {"supporting_facts": facts})
        assert found == [] and counts["no_gold"] == 1


def test_hidden_test_rows(tmp_path: Path):
    """No answer to score against."""
    record = {key: value for key, value in HOTPOT.items() if key not in ("answer", "supporting_facts")}
    assert questions(tmp_path, "hotpotqa", record) == ([], {"read": 1, "no_answer": 1})


@pytest.mark.parametrize("change", [{"context": [["A", "One."]]}, {"supporting_facts": [["A", "1"]]}])
def test_wrong_shape(tmp_path: Path, change: dict[str, Any]):
    with pytest.raises(SetupError, match=r"record 1: (context|supporting_facts)\[0\] is a list, wanted \[title"):
        questions(tmp_path, "hotpotqa", HOTPOT | change)


def test_musique(tmp_path: Path):
    (question,), counts = questions(tmp_path, "musique", MUSIQUE, MUSIQUE | {"id": "x", "answerable": False})
    found, _ = pages(tmp_path, "musique", MUSIQUE)
    assert counts == {"read": 2, "unanswerable": 1}
    assert question.answers == ["Ann", "Anne"]
    assert (question.hops, question.reasoning_types) == (2, ["2hop"])
    assert [page.paragraphs for page in found] == [["A", "One."], ["B", "Two."], ["A", "Three."]]
    assert [s.page_id for s in question.provenance] == [found[0].page_id, found[2].page_id]
    assert [text_at(found[0], question.provenance[0]), text_at(found[2], question.provenance[1])] == ["One.", "Three."]


def test_real_files(shared_data: Path):
    counts: Counter[str] = Counter()
    musique = shared_data / "musique" / "musique_ans_dev.subset.jsonl"
    assert Counter(q.hops for q in QUESTION_READERS["musique"](musique, "musique", counts)) == {2: 145, 3: 32, 4: 23}
    twowiki = shared_data / "twowiki" / "2wikimultihopqa_dev.subset.jsonl"
    types = Counter(q.reasoning_types[0] for q in QUESTION_READERS["twowiki"](twowiki, "twowiki", counts))
    assert types == {"compositional": 57, "comparison": 54, "bridge_comparison": 43, "inference": 10}
    corpus = shared_data / "twowiki" / "2wikimultihopqa_corpus.jsonl"
    assert sum(1 for _ in PAGE_READERS["twowiki"](corpus, counts)) == 6119
    assert counts == {"read": 200 + 164 + 6119}
