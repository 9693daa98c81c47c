"""The paragraphs that a source provides with each question, alone and with others."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.prompts import render
from builders.sources.paragraphs import page_id_of
from builders.synthetic.given import GivenRecipe
from builders.text import contains
from builders.tokens import token_counter
from tests.builders.synthetic.small import build_given, made_rows, question, sentence, write_hotpot


def made(
    folder: Path, questions: list[dict[str, Any]], **changes: Any
) -> tuple[dict[str, dict[str, Any]], Counter[str]]:
    """Rows by config and id."""
    path = write_hotpot(folder, questions)
    task = {"kind": "qa", "files": {"dev": {"reader": "hotpotqa", "path": path.name}}, "gold": "all"}
    values = {"kind": "given", "name": "g", "tokenizer": "smollm2", "lengths": ["2k"]}
    take = changes.pop("take", {"test": {"source": "dev", "n": 100}})
    recipe = GivenRecipe.model_validate({**values, "tasks": {"hotpotqa": {**task, "take": take}}, **changes})
    found, counts = made_rows(recipe, {"tasks.hotpotqa.files.dev": path})
    rows: dict[str, dict[str, Any]] = defaultdict(dict)
    for config, _, row in found:
        rows[config][row["id"]] = row
    return rows, counts


def of_role(row: dict[str, Any], role: str) -> set[str]:
    return {passage["title"] for passage in row["passages"] if passage["role"] == role}


def test_as_given(tmp_path: Path) -> None:
    rows, counts = made(tmp_path, [question(n) for n in range(8)])
    row = rows["given_full"]["hotpotqa-q3"]
    assert of_role(row, "gold") == {"T3.2", "T3.5"}
    assert of_role(row, "confounder") == {f"T3.{at}" for at in range(10)} - {"T3.2", "T3.5"}
    assert len(row["passages"]) == 10
    first = next(passage for passage in row["passages"] if passage["title"] == "T3.0")
    assert first["text"] == f"{sentence(30)} More 300."
    assert first["pid"] == f"{page_id_of('T3.0', first['text'])}:0"
    assert (row["answers"], row["hops"], row["reasoning_types"], row["flags"]) == (["zq3x"], 2, ["bridge"], [])
    assert row["confounding_ratio"] == 1.0
    assert sorted(row["gold"]) == [at for at, p in enumerate(row["passages"]) if p["role"] == "gold"]
    assert (counts["read"], counts["test_questions"]) == (8, 8)


def test_filled_up_with_paragraphs_of_other_questions(tmp_path: Path) -> None:
    """Budget, nesting and order, tokens counted on the finished prompt."""
    rows, _ = made(tmp_path, [question(n) for n in range(12)], lengths=["2k", "3k"])
    counter = token_counter("smollm2")
    for length, budget in (("2k", 1792), ("3k", 2816)):
        for row in rows[f"given_{length}"].values():
            text = render(spec_of("hotpotqa"), row["query"], [(p["title"], p["text"]) for p in row["passages"]]).text
            assert row["n_tokens"] == counter.count(text) <= budget
            own = row["query"].removeprefix("What ").rstrip("?")
            assert of_role(row, "gold") | of_role(row, "confounder") == {f"T{own}.{at}" for at in range(10)}
            assert all(not title.startswith(f"T{own}.") for title in of_role(row, "random"))
            others = [passage for passage in row["passages"] if passage["role"] != "gold"]
            assert row["confounding_ratio"] == pytest.approx(8 / len(others))
    for shorter, longer in (("given_full", "given_2k"), ("given_2k", "given_3k")):
        for id, row in rows[shorter].items():
            pids = [passage["pid"] for passage in row["passages"]]
            assert [p["pid"] for p in rows[longer][id]["passages"] if p["pid"] in set(pids)] == pids


def test_gold_without_an_answer_is_flagged(tmp_path: Path) -> None:
    asked = [question(n) for n in range(4)]
    asked[3]["answer"] = "in no paragraph"
    rows, _ = made(tmp_path, asked)
    flags = {id: row["flags"] for id, row in rows["given_full"].items()}
    assert flags == {f"hotpotqa-q{n}": ["answer_not_in_gold"] if n == 3 else [] for n in range(4)}


def test_added_paragraphs_hold_no_answer(tmp_path: Path) -> None:
    leaking = [question(n) for n in range(10)]
    for n in range(1, 10):
        leaking[n]["context"][7][1][1] = " It says zq0x here."
    rows, _ = made(tmp_path, leaking)
    row = rows["given_2k"]["hotpotqa-q0"]
    assert of_role(row, "random")
    assert not [p for p in row["passages"] if p["role"] != "gold" and contains("zq0x", p["text"])]


def test_an_answer_among_the_given_is_kept_and_flagged(tmp_path: Path) -> None:
    questions = [question(n) for n in range(4)]
    questions[1]["context"][0][1][1] = " It says zq1x too."
    questions[2]["context"][0][0] = "About zq2x"
    questions[3]["context"][0][1][1] = " It says zq3xy, which is another word."
    rows, counts = made(tmp_path, questions)
    flagged = [id for id, row in rows["given_full"].items() if "answer_in_given" in row["flags"]]
    assert sorted(flagged) == ["hotpotqa-q1", "hotpotqa-q2"]
    assert counts["answer_in_given"] == 2
    assert len(rows["given_full"]["hotpotqa-q1"]["passages"]) == 10


def test_yes_is_looked_for_nowhere(tmp_path: Path) -> None:
    """An answer that no paragraph contains; both supporting paragraphs are gold."""
    asked = question(0, answer="yes")
    asked["context"][0][1][1] = " Well, yes."
    rows, counts = made(tmp_path, [asked, *(question(n) for n in range(1, 5))])
    row = rows["given_full"]["hotpotqa-q0"]
    assert row["flags"] == ["answer_filter_not_applicable"]
    assert of_role(row, "gold") == {"T0.2", "T0.5"}
    assert not counts["answer_in_given"]


def test_repeats_are_left_out_and_counted(tmp_path: Path) -> None:
    asked = question(0)
    asked["context"][8] = asked["context"][7]
    asked["context"][9] = ["Copy", asked["context"][2][1]]
    asked["context"][1] = ["Other copy", asked["context"][0][1]]
    rows, counts = made(tmp_path, [asked], lengths=[])
    assert len(rows["given_full"]["hotpotqa-q0"]["passages"]) == 7
    assert (counts["repeated_page"], counts["given_gold_overlap"], counts["given_near_duplicate"]) == (1, 1, 1)


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    """Left out of the length, not scored 0."""
    rows, counts = made(tmp_path, [question(n) for n in range(3)], lengths=["512"])
    assert len(rows["given_full"]) == 3
    assert not rows["given_512"]
    assert counts["given_over_budget_512"] == 3


def test_splits_share_no_question(tmp_path: Path) -> None:
    """Splits share nothing."""
    take = {"test": {"source": "dev", "n": 3}, "train": {"source": "dev", "n": 9}}
    rows, counts = made(tmp_path, [question(n) for n in range(8)], take=take)
    assert len(rows["given_full"]) == 8
    assert (counts["test_questions"], counts["train_questions"], counts["too_few"]) == (3, 5, 4)
    one, _ = made(tmp_path, [question(n) for n in reversed(range(8))], take=take, limit=1)
    assert set(one["given_full"]) < set(rows["given_full"])


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("tasks.hotpotqa.gold=best", "write gold: all"),
        ("tasks.hotpotqa.take.test.source=train", r"take names \['train'\]"),
        ("tasks.hotpotqa.files.dev.reader=kilt", "provides no paragraphs"),
        ("tasks.hotpotqa.files.dev.rows=7", "has 4 records, and the recipe says 7"),
        ("tasks.hotpotqa.files.dev.path=gone.json", "is not there"),
    ],
)
def test_wrong_settings(tmp_path: Path, setting: str, says: str) -> None:
    with pytest.raises(SetupError, match=says):
        build_given(tmp_path, [question(n) for n in range(4)], setting)


def test_twowiki(shared_data: Path) -> None:
    """Against an independent reading of the file."""
    path = shared_data / "twowiki" / "2wikimultihopqa_dev.subset.jsonl"
    records = {f"twowiki-{r['_id']}": r for r in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    task = {"kind": "qa", "files": {"dev": {"reader": "twowiki", "path": str(path)}}, "gold": "all"}
    take = {"test": {"source": "dev", "n": 200}}
    values = {"kind": "given", "name": "g", "tokenizer": "smollm2", "lengths": []}
    recipe = GivenRecipe.model_validate({**values, "tasks": {"twowiki": {**task, "take": take}}})
    found, counts = made_rows(recipe, {"tasks.twowiki.files.dev": path})
    rows = {row["id"]: row for _, _, row in found}
    assert rows.keys() == records.keys() and len(rows) == 164
    flagged = 0
    for id, row in rows.items():
        titles = {title for title, _ in records[id]["supporting_facts"]}
        assert of_role(row, "gold") == titles
        assert {passage["title"] for passage in row["passages"]} <= {title for title, _ in records[id]["context"]}
        others = [(t, " ".join(parts)) for t, parts in records[id]["context"] if t not in titles]
        answer = records[id]["answer"]
        held = answer not in ("yes", "no") and any(contains(answer, t) or contains(answer, text) for t, text in others)
        assert ("answer_in_given" in row["flags"]) == held
        flagged += held
    assert (flagged, counts["answer_in_given"], counts["repeated_page"]) == (28, 28, 6)
    assert sum(len(row["passages"]) for row in rows.values()) == 1640 - 6 - counts["given_near_duplicate"]
