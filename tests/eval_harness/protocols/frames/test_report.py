"""The report of a hand-made run: every number worked out beside it."""

from pathlib import Path
from typing import Any

import pytest

from builders.files import write_json
from eval_harness.protocols.frames import document
from eval_harness.protocols.frames.analysis import EXACT, MATCH, articles_group, read_analysis, rounds
from eval_harness.protocols.frames.figure import rounds_figure
from eval_harness.protocols.frames.judge import FOLDER, SCORE
from eval_harness.protocols.frames.questions import Asked
from eval_harness.protocols.frames.sections import agreements, sections
from eval_harness.report.document import write_document
from eval_harness.report.parts import Section
from eval_harness.run.results import Results, Row

STEPS = "multistep@3x1x1"
TYPES = {"q1": ["Numerical reasoning"], "q2": ["Numerical reasoning", "Post processing"], "q3": ["Post processing"]}
ARTICLES = {"q1": 2, "q2": 2, "q3": 7, "q4": 3}
NONE = {"n_articles": 0, "n_cut": 0, "n_left_out": 0, "passages_each": None}


def row(id: str, method: str, right: bool, recall: float | None = None, **more: Any) -> Row:
    scores = {MATCH: float(right), EXACT: 0.0, "subspan_em": float(right)}
    scores |= {} if recall is None else {"evidence_recall": recall}
    fields: dict[str, Any] = {"status": "ok", "answer": "six" if right else "no", "output": "o", "scores": scores}
    return Row(id, "frames", "qa", "qa", "frames_1k", "test", method, method, "m", **fields | more)


def step(number: int, answer: str, recall: float, new: int, repeated: int = 0, **more: Any) -> dict[str, Any]:
    queries = ["query"] * (1 - repeated)
    made = {"round": number, "queries": queries, "n_repeated": repeated, "new": ["a"] * new, "recall": recall}
    return made | {"answer": answer, "answer_shown": NONE | {"n_articles": new}} | more


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three answered questions and one that failed, with three methods, and a judge."""
    folder = tmp_path / "run"
    record = {
        "dataset": {"name": "tiny", "version": "1.0.0", "manifest_sha256": "0" * 64},
        "model": {"name": "m"},
        "configs": {"frames_1k": {"family": "frames"}},
        "methods": ["closed_book", "oracle_rag", STEPS],
        "protocol": "frames",
        "articles": {"n_articles": 27063},
        "source": "kilt=pages.jsonl",
        "index": "bm25",
        "multistep": {STEPS: {"rounds": 3, "queries": 1, "articles": 1, "style": "vanilla"}},
    }
    logs = {
        "q1": [step(1, "no", 0.5, 1), step(2, "six", 1.0, 1), step(3, "six", 1.0, 0, stop="rounds")],
        "q2": [step(1, "no", 0.0, 1), step(2, "no", 0.0, 0, repeated=1, stop="unchanged")],
        "q3": [step(1, "six", 0.25, 1), step(2, "no", 0.5, 1), step(3, "no", 0.75, 1, stop="rounds")],
    }
    kept = Results(folder, record)
    kept.append([row(id, "closed_book", id == "q3") for id in ("q1", "q2", "q3")])
    kept.append([row(id, "oracle_rag", id != "q3", steps_log=[NONE | {"n_articles": 2}]) for id in ("q1", "q2", "q3")])
    kept.append([row(id, STEPS, id == "q1", log[-1]["recall"], steps_log=log) for id, log in logs.items()])
    kept.append([row("q4", STEPS, False, 0.0, status="error", answer=None)])
    kept.append([row("q4", "closed_book", False, status="overlength", scores={}, answer=None)])
    asked = {id: Asked(f"{id}?", ["six"], TYPES.get(id, []), ARTICLES[id])._asdict() for id in ("q1", "q2", "q3", "q4")}
    write_json(folder / "questions.json", {"asked": asked, "coverage": {"2/2": 2, "1/2": 3, "0/3": 1, "3/3": 2}})
    verdicts = Results(folder / FOLDER / "wise", {"prompt_sha256": "abcdef0123456789"})
    says = {
        ("q1", "closed_book"): 1.0,
        ("q2", "closed_book"): 0.0,
        ("q3", "closed_book"): 1.0,
        ("q1", STEPS): 1.0,
        ("q2", STEPS): 1.0,
    }
    words = {1.0: "correct", 0.0: "incorrect"}
    verdicts.append([row(*key, False, scores={SCORE: said}, answer=words[said]) for key, said in says.items()])
    verdicts.append([row("q3", STEPS, False, scores={}, status="unparsed", answer=None)])
    return folder


def table(run: Path, name: str) -> Section:
    return next(section for section in sections(read_analysis(run)) if section.name == name)


def cells(section: Section) -> dict[str, dict[str, str]]:
    """First lines of cells by the row's first cell and the column's first line."""
    header = [name.split("\n")[-1] for name in section.header]
    return {row[0]: {name: cell.split("\n")[0] for name, cell in zip(header, row, strict=True)} for row in section.rows}


def test_accuracy(run: Path) -> None:
    """closed_book 1 of 3, oracle 2 of 3, multi-step 1 of 4: its failed row counts as wrong; overlength is in no n."""
    found = cells(table(run, "frames"))
    assert {name: (one["n"], one["accuracy"], one["exact"]) for name, one in found.items()} == {
        "closed_book": ("3", "33.3", "0.0"),
        "oracle_rag": ("3", "66.7", "0.0"),
        STEPS: ("4", "25.0", "0.0"),
    }
    assert (found["closed_book"]["not ok"], found[STEPS]["not ok"]) == ("1 overlength", "1 error")
    assert "Searched: 27,063 articles of kilt=pages.jsonl, by bm25." in table(run, "frames").notes
    # recall: (1 + 0 + 0.75 + 0) / 4
    assert (found[STEPS]["recall"], found["closed_book"]["recall"]) == ("43.8", "–")


def test_a_judge_counts_what_it_said_and_a_missing_answer_as_wrong(run: Path) -> None:
    """closed_book 2 of 3; multi-step: q1 and q2 correct, q4 failed, q3 without a verdict is not in n: 2 of 3."""
    found = cells(table(run, "frames"))
    assert {name: one["wise"] for name, one in found.items()} == {
        "closed_book": "66.7",
        "oracle_rag": "–",
        STEPS: "66.7",
    }


def test_groups(run: Path) -> None:
    """q1 and q2 are numerical, q2 and q3 post-processing, q4 neither; q3 rests on 7 articles."""
    types, articles = cells(table(run, "types")), cells(table(run, "articles"))
    assert list(types["closed_book"]) == ["method", "Numerical reasoning", "Post processing"]
    assert list(types[STEPS].values())[1:] == ["50.0", "0.0"]
    assert list(types["oracle_rag"].values())[1:] == ["100.0", "50.0"]
    assert articles[STEPS] == {"method": STEPS, "2": "50.0", "3": "0.0", "5+": "0.0"}
    assert articles["closed_book"] == {"method": "closed_book", "2": "0.0", "3": "–", "5+": "100.0"}
    assert articles_group(Asked("", [], [], 4)) == ["4"]


def test_types_and_gap_go_by_each_judge_too(run: Path) -> None:
    """closed_book: q1 right, q2 wrong, q3 right; multi-step: q1 and q2 right, q3 without a verdict. The judge saw no
    answer of the oracle, so there is no gap by it."""
    types = cells(table(run, "types-wise"))
    assert list(types["closed_book"].values())[1:] == ["50.0", "50.0"]
    assert list(types[STEPS].values())[1:] == ["100.0", "100.0"]
    assert table(run, "types-wise").title == "By reasoning type, judged by wise"
    assert "gap-wise" not in {section.name for section in sections(read_analysis(run))}
    judged = Results(run / FOLDER / "wise", {"prompt_sha256": "abcdef0123456789"})
    judged.append([row(id, "oracle_rag", False, scores={SCORE: 1.0}, answer="correct") for id in ("q1", "q2")])
    found = cells(table(run, "gap-wise"))
    assert {name: (one["n"], one["oracle minus method"]) for name, one in found.items()} == {
        "closed_book": ("2", "+50.0"),  # 0 and 1
        STEPS: ("2", "0.0"),
    }


def test_rounds(run: Path) -> None:
    """Right after round 1: q3; after 2: q1; after 3: q1. Recall over four rows: 0.75/4, 1.5/4, 1.75/4."""
    made = rounds(read_analysis(run), STEPS)
    assert [one.accuracy and one.accuracy.mean for one in made] == [0.25, 0.25, 0.25]
    assert [one.recall and one.recall.mean for one in made] == pytest.approx([0.1875, 0.375, 0.4375])
    assert [one.going for one in made] == [3, 3, 2]
    # q1 finds 1, 1, 0 articles, q2 1, 0, q3 1, 1, 1; q2 repeats its query in round 2
    assert [one.articles for one in made] == pytest.approx([3 / 4, 5 / 4, 6 / 4])
    assert [one.queries for one in made] == pytest.approx([3 / 4, 5 / 4, 7 / 4])
    assert [one.repeated for one in made] == pytest.approx([0, 1 / 4, 1 / 4])
    assert rounds(read_analysis(run), "closed_book") == []


def test_the_gap_is_over_questions_counted_in_both(run: Path) -> None:
    """oracle less closed_book: +1, +1, -1 over q1 to q3; less multi-step: 0, +1, 0"""
    found = cells(table(run, "gap"))
    assert {name: (one["n"], one["oracle minus method"]) for name, one in found.items()} == {
        "closed_book": ("3", "+33.3"),
        STEPS: ("3", "+33.3"),
    }


def test_coverage(run: Path) -> None:
    """What was left out is in the report, and in no score."""
    section = table(run, "coverage")
    assert section.rows == [
        ["2", "1/2: 3, 2/2: 2", "5", "2", "70.0"],
        ["3", "0/3: 1, 3/3: 2", "3", "2", "66.7"],
    ]
    assert "4 of the source's 8 questions have all" in section.notes[0]


def test_judges_against_the_match(run: Path) -> None:
    """Five verdicts that differ on q1 closed_book and q2 multi-step: kappa (0.6 - 0.44) / (1 - 0.44): the judge says
    correct 4 times of 5 and the match twice."""
    assert table(run, "judges").rows == [["wise", "abcdef012345", "4", "1", "1", "60.0", "0.29"]]


def test_agreement_with_labels(run: Path) -> None:
    """Labels equal the match on closed_book q1, q2 and q3 and on multi-step q2: 4 of 4. The judge differs on q1 and q2
    of closed_book: 2 of 4, where chance gives (3 * 1 + 1 * 3) / 16: kappa (1/2 - 3/8) / (1 - 3/8) = 1/5."""
    labels = {
        ("q1", "closed_book"): "incorrect",
        ("q2", "closed_book"): "incorrect",
        ("q3", "closed_book"): "correct",
        ("q2", STEPS): "incorrect",
        ("gone", "closed_book"): "correct",
    }
    assert agreements(read_analysis(run), labels).rows == [
        ["match", "4", "1", "100.0", "1.000"],
        ["wise", "4", "1", "50.0", "0.200"],
    ]


def test_the_whole_report_is_written(run: Path, tmp_path: Path) -> None:
    made, study, instances = document(run, None)
    written = write_document(made, study, instances, tmp_path / "report")
    assert {path.name for path in written} == {"report.md", "report.html", "frames.csv", "rounds.csv", "rounds.png"}
    lines = (tmp_path / "report" / "frames.csv").read_text().splitlines()
    assert f"closed_book,all,{MATCH},0.333333,0,1,3" in lines
    assert "closed_book,all,judge wise,0.666667,0,1,3" in lines
    assert any(line.startswith(f"{STEPS},Post processing,{MATCH},0,") for line in lines)
    assert "rounds.png" in (tmp_path / "report" / "report.md").read_text()


def test_no_figure_without_answers_after_rounds(run: Path) -> None:
    found = read_analysis(run)
    assert rounds_figure(found) is not None
    for one in found.rows[STEPS]:
        for made in (one.steps_log or ())[:-1]:  # as a run leaves it that asks after the last round alone
            made.pop("answer")
    assert rounds_figure(found) is None
