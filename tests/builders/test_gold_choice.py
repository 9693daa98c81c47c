"""Which passages are gold where a recipe does not say it, and what rows are warned of."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from builders.config import Task
from builders.files import read_table
from builders.gold import UNANSWERED, UNCOVERED, warned
from builders.load_recipe import load_recipe
from builders.pipeline import STAGES, _run_stages, prepare
from builders.schema import Question, Span
from builders.sources import gold_of
from builders.stages.questions import targets_of
from builders.summary import _gold_lines
from tests.builders.small_corpus import page, small_corpus
from tests.builders.tiny import first_sentence, write_lines, write_tiny_kilt


def task(reader: str, **more: Any) -> Task:
    source = {"reader": reader, "path": "x", **more.pop("file", {})}
    return Task.model_validate({"kind": "qa", "files": {"a": source}, "take": {}, **more})


def test_the_default_follows_the_kind_of_source() -> None:
    assert {name: gold_of(task(name)) for name in ("kilt", "hotpotqa", "twowiki", "musique", "frames")} == {
        "kilt": "best", "hotpotqa": "all", "twowiki": "all", "musique": "all", "frames": "all",
    }  # fmt: skip
    assert gold_of(task("hotpotqa", gold="best")) == "best"
    assert gold_of(task("kilt", file={"gold": "all"})) == "all"
    public = Task.model_validate({"files": {"a": "kilt_hotpotqa_dev"}, "take": {}})
    assert gold_of(public) == "all"


def test_the_build_says_what_it_chose(tmp_path: Path) -> None:
    recipe, _ = load_recipe(str(write_tiny_kilt(tmp_path)), [])
    assert _gold_lines(recipe) == [
        "gold, as the sources of a task say: fever best, nq best; tasks.NAME.gold changes it"
    ]


@pytest.mark.parametrize(
    ("answers", "gold", "hops", "extractive", "flags"),
    [
        (["b1"], [0], 1, True, ()),
        (["zz", "B1"], [0], 1, True, ()),
        (["zz"], [0], 1, True, (UNANSWERED,)),
        (["??"], [0], 1, True, (UNANSWERED,)),  # nothing is left of it
        (["zz"], [0], 1, False, ()),
        (["Two"], [1], 1, True, ()),  # the title
        (["b1"], [0], 2, True, (UNCOVERED,)),
        (["zz"], [0, 1], 2, True, (UNANSWERED,)),
        (["b2"], [0, 1], 2, True, ()),
        (["dd"], [0], 1, True, ()),  # with a mark in the text, which is not the answer's
        (["cc++"], [0], 1, True, (UNANSWERED,)),  # and the other way round
    ],
)
def test_what_gold_does_not_contain(
    tmp_path: Path, answers: list[str], gold: list[int], hops: int, extractive: bool, flags: tuple[str, ...]
) -> None:
    corpus = small_corpus(tmp_path, [page("1", "One", "Aa b1 cc, dd++."), page("2", "Two", "Aa b2 cc.")])
    spans = [Span("1", 1, 0, 1, 3), Span("2", 1, 0, 1, 3)][:hops]
    asked = Question("q", "t", "query", answers, "text", spans, hops, [])
    assert warned(asked, gold, corpus, extractive).flags == flags
    assert warned(asked._replace(answer_kind="yesno"), gold, corpus, extractive).flags in ((), (UNCOVERED,))


@pytest.mark.parametrize("choice", ["drop", "flag"])
def test_a_question_whose_gold_has_no_answer(tmp_path: Path, choice: str) -> None:
    """Left out and counted, or flagged; one with provenance on two pages and one gold passage is flagged too."""
    recipe = write_tiny_kilt(tmp_path / "kilt")
    pages = [json.loads(line) for line in (tmp_path / "kilt" / "pages.jsonl").read_text().splitlines()]
    two = [first_sentence(pages[0]), first_sentence(pages[1])]
    records = [("0", "zq0x", two[:1]), ("1", "See Table 2", two[:1]), ("2", "?!", two[:1]), ("3", "zq1x", two)]
    lines = [
        {"id": id, "input": f"number {id}?", "output": [{"answer": answer, "provenance": given}]}
        for id, answer, given in records
    ]
    write_lines(tmp_path / "kilt" / "nq.jsonl", lines)
    loaded, base = load_recipe(str(recipe), [f"tasks.nq.gold_without_answer={choice}"])
    build = prepare(loaded, base, tmp_path / "work")
    _run_stages(STAGES[:5], build, 1, Console(quiet=True))
    found = {
        target.question.id: target.question.flags
        for shard in build.shards("gold")
        if shard.task == "nq"
        for target in targets_of(read_table(build.path("gold", shard.name)))
    }
    kept = {"nq-0": (), "nq-3": (UNCOVERED,)}
    if choice == "drop":
        assert found == kept and build.counts("questions")[UNANSWERED] == 2
    else:
        assert found == {**kept, "nq-1": (UNANSWERED,), "nq-2": (UNANSWERED,)}
        assert build.counts("gold")[UNANSWERED] == 2
