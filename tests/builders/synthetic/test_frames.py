"""FRAMES over hand-written pages: which questions are built, and the content of their contexts."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from builders.config import Source
from builders.errors import SetupError
from builders.format1 import spec_of
from builders.load_recipe import load_recipe
from builders.prompts import render
from builders.schema import Page
from builders.sources import PAGE_READERS
from builders.synthetic.base import SyntheticRow
from builders.synthetic.frames import KIND, FramesRecipe
from builders.synthetic.pages import Sample
from builders.text import contains
from builders.tokens import token_counter
from tests.builders.synthetic.small import made_rows

WIKI = "https://en.wikipedia.org/wiki/"
WORDS = "river town bridge harbour stone garden market tower winter castle forest island road valley".split()


def page(title: str, n: int, sentences: int = 3) -> dict[str, Any]:
    rng = random.Random(title)
    text = [" ".join(rng.choices(WORDS, k=12)).capitalize() + "." for _ in range(sentences)]
    return {"wikipedia_id": str(n), "wikipedia_title": title, "text": [f"{title}\n", " ".join(text)]}


PAGES = [page("Alpha", 1), page("Beta", 2, 30), page("Gamma", 3), *(page(f"Filler {n}", n) for n in range(10, 80))]


def question(id: str, answer: str, *titles: str) -> dict[str, Any]:
    links = {f"wikipedia_link_{n}": f"{WIKI}{title}" for n, title in enumerate(titles, start=1)}
    return {"id": id, "Prompt": f"Question {id}?", "Answer": answer, "reasoning_types": "Post processing"} | links


QUESTIONS = [
    question("0", "no such word", "Alpha", "Beta"),
    question("1", "three", "Alpha", "Gamma", "Gone"),
    question("2", "nothing", "Alpha", "Gamma#History", "Gam%6Da"),
]


def write(folder: Path, pages: list[dict[str, Any]], questions: list[dict[str, Any]]) -> dict[str, Path]:
    paths = {"knowledge": folder / "pages.jsonl", "questions": folder / "questions.jsonl"}
    for path, records in zip(paths.values(), (pages, questions), strict=True):
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return paths


def recipe(**fields: Any) -> FramesRecipe:
    source = {"questions": {"reader": "frames", "path": "q"}, "knowledge": {"reader": "kilt", "path": "k"}}
    base = {"kind": "frames", "name": "x", "tokenizer": "smollm2", "lengths": ["1k", "2k"], **source}
    return FramesRecipe.model_validate(base | fields)


def made(
    folder: Path, pages: Any = PAGES, asked: Any = QUESTIONS, **fields: Any
) -> tuple[list[SyntheticRow], Counter[str]]:
    return made_rows(recipe(**fields), write(folder, pages, asked))


def test_a_question_with_a_missing_page_is_excluded_and_counted(tmp_path: Path) -> None:
    """1 of 3 links gone; a fragment and percent-encoding make no second gold page."""
    rows, counts = made(tmp_path)
    assert {row.row["id"] for row in rows} == {"frames-0", "frames-2"}
    assert {name: n for name, n in counts.items() if n and not name.startswith("filler")} == {
        "questions_read": 3,
        "pages_read": 73,
        "coverage_2/2": 2,
        "coverage_2/3": 1,
        "missing_page": 1,
    }
    assert [row.row["hops"] for row in rows] == [2, 2, 2, 2]


def test_gold_is_all_passages_of_all_articles(tmp_path: Path) -> None:
    """30 sentences of 12 words are 4 passages, since 8 sentences go into 100 words."""
    rows, _ = made(tmp_path)
    for row in (one.row for one in rows):
        gold = [row["passages"][at] for at in row["gold"]]
        want = ["1:0", "2:0", "2:1", "2:2", "2:3"] if row["id"] == "frames-0" else ["1:0", "3:0"]
        assert sorted(passage["pid"] for passage in gold) == want
        assert {passage["role"] for passage in gold} == {"gold"}
        others = [passage for passage in row["passages"] if passage not in gold]
        assert {passage["role"] for passage in others} == {"random"}
        assert not {p["title"] for p in others} & ({"Alpha", "Beta"} if row["id"] == "frames-0" else {"Alpha", "Gamma"})


def test_contexts_fit_and_a_shorter_one_stands_in_a_longer(tmp_path: Path) -> None:
    rows, _ = made(tmp_path)
    by_id = {(one.config, one.row["id"]): one.row for one in rows}
    count = token_counter("smollm2").count
    for (config, id), row in by_id.items():
        prompt = render(spec_of("frames"), row["query"], [(p["title"], p["text"]) for p in row["passages"]]).text
        assert row["n_tokens"] == count(prompt) <= {"frames_1k": 768, "frames_2k": 1792}[config]
        longer = [passage["pid"] for passage in by_id["frames_2k", id]["passages"]]
        shorter = [passage["pid"] for passage in row["passages"]]
        assert shorter == [pid for pid in longer if pid in shorter]
    assert by_id["frames_1k", "frames-0"]["n_tokens"] > 0.75 * 768


def test_a_question_whose_articles_do_not_fit_is_counted(tmp_path: Path) -> None:
    rows, counts = made(tmp_path, [page("Alpha", 1), page("Beta", 2, 90), *PAGES[2:]])
    assert [(one.config, one.row["id"]) for one in rows] == [
        ("frames_1k", "frames-2"),
        ("frames_2k", "frames-0"),
        ("frames_2k", "frames-2"),
    ]
    assert counts["gold_over_budget_1k"] == 1


def test_the_answer_stands_in_no_other_page(tmp_path: Path) -> None:
    rows, counts = made(tmp_path, asked=[question("0", "harbour stone", "Alpha")])
    others = [passage for one in rows for passage in one.row["passages"] if passage["role"] != "gold"]
    assert others and not [passage for passage in others if contains("harbour stone", passage["text"])]
    assert counts["filler_contains_answer"] > 0


def test_rows_do_not_depend_on_the_order_of_the_pages(tmp_path: Path) -> None:
    shuffled = random.Random(3).sample(PAGES, len(PAGES))
    assert made(tmp_path)[0] == made(tmp_path, shuffled)[0]


def test_limit_counts_built_questions(tmp_path: Path) -> None:
    missing_first = [QUESTIONS[1], QUESTIONS[0], QUESTIONS[2]]
    rows, counts = made(tmp_path, asked=missing_first, limit=1)
    assert {one.row["id"] for one in rows} == {"frames-0"}
    assert counts["missing_page"] == 1


def test_the_sample_is_the_fewest_pages_that_hold_the_words() -> None:
    pages = [Page(str(n), "T", ["T", "word " * (5 + n % 7)], []) for n in range(50)]
    sample = Sample("v1", 60)
    for one in pages:
        sample.add(one)
    found = [len(one.paragraphs[1].split()) for one in sample.pages()]
    assert sum(found) >= 60 > sum(found[:-1])
    rest = [one for one in pages if one not in sample.pages()]
    again = Sample("v1", 10**9)
    for one in rest + sample.pages():
        again.add(one)
    assert again.pages()[: len(found)] == sample.pages()


def test_too_few_pages_end_in_a_short_context(tmp_path: Path) -> None:
    rows, _ = made(tmp_path, [PAGES[0], *PAGES[2:4]], [QUESTIONS[2]])
    assert [one.row["flags"] for one in rows] == [["answer_not_in_gold", "short_pool", "underfull"]] * 2


def test_other_row_counts_and_unknown_readers_are_refused(tmp_path: Path) -> None:
    source = {"reader": "kilt", "path": "k"}
    with pytest.raises(SetupError, match="has 73 records, and the recipe says 74"):
        made(tmp_path, knowledge=source | {"rows": 74})
    with pytest.raises(SetupError, match=r"knowledge\.reader 'klt' is unknown; there are kilt"):
        KIND.sources(recipe(knowledge={"reader": "klt", "path": "k"}), tmp_path)


def test_two_pages_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="several pages with id 1; keep one of each"):
        made(tmp_path, [page("Alpha", 1), page("Gamma", 1)])


def test_the_bundled_recipe() -> None:
    loaded, _ = load_recipe("frames", [])
    assert isinstance(loaded, FramesRecipe)
    assert list(loaded.configs) == ["frames_8k", "frames_32k", "frames_128k"]
    assert loaded.questions.rows == 824 and loaded.knowledge.reader in PAGE_READERS


def test_coverage_of_all_824_questions(shared_data: Path) -> None:
    """Over kilt_mini: 25 questions have all their articles, 305 a part; 457 articles in all (counted with a script of
    regular expressions that shares no code with the reader)."""
    paths = {
        "knowledge": shared_data / "kilt_mini" / "kilt_knowledgesource.json",
        "questions": shared_data / "frames" / "frames_test.jsonl",
    }
    made_of = recipe(knowledge=Source(reader="kilt", path="k", rows=27063), lengths=["8k"], limit=3)
    rows, counts = made_rows(made_of, paths)
    assert [one.row["id"] for one in rows] == ["frames-3", "frames-94", "frames-105"]
    covered = {name: n for name, n in counts.items() if name.startswith("coverage_")}
    shares = {tuple(map(int, name.removeprefix("coverage_").split("/"))): n for name, n in covered.items()}
    assert sum(shares.values()) == counts["questions_read"] == 824
    assert sum(n for (k, of), n in shares.items() if k == of) == 25 == 824 - counts["missing_page"]
    assert sum(n for (k, of), n in shares.items() if 0 < k < of) == 305
    assert sum(k * n for (k, of), n in shares.items()) == 457
