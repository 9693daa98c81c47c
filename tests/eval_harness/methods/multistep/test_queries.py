"""Prompts for queries, and queries read from outputs."""

import pytest

from eval_harness.methods.multistep.queries import queries_in, query_prompt
from tests.eval_harness.methods.multistep.stubs import article

VANILLA = {
    "Emma author\nLima": ["Emma author", "Lima"],
    "1. Emma author\n2) Lima\n- 3rd Reich\n* x": ["Emma author", "Lima", "3rd Reich"],
    'Queries:\n"Emma author"\n\n“Lima”': ["Emma author", "Lima"],
    "Query 1: Emma author\nQuery 2: Lima": ["Emma author", "Lima"],
    "Here are the search queries: Emma author": ["Emma author"],
    "<think>Emma?</think>Lima": ["Lima"],
    "<think>Emma": [],
    "": [],
    "?!\n--": [],
    "1984 novel": ["1984 novel"],
}
PLAN = {
    "The author is needed.\nQueries:\nEmma author\nLima": ["Emma author", "Lima"],
    "Is it Emma? Queries: Emma author": ["Emma author"],
    "Queries: draft\nNo, better.\nQueries:\n- Emma author": ["Emma author"],
    "First this:\n1. Emma author\n2. Lima\nThat is all.": ["Emma author", "Lima"],
    "The author of Emma is needed.\nEmma author\n": ["Emma author"],
}


@pytest.mark.parametrize(("output", "want"), VANILLA.items())
def test_lines_are_queries(output: str, want: list[str]) -> None:
    assert queries_in("vanilla", output, 3) == want


@pytest.mark.parametrize(("output", "want"), PLAN.items())
def test_a_plan_comes_before_its_queries(output: str, want: list[str]) -> None:
    assert queries_in("plan", output, 3) == want


def test_no_more_than_were_asked_for() -> None:
    assert queries_in("vanilla", "a b\nc d\ne f", 2) == ["a b", "c d"]


def test_prompts_hold_question_articles_and_number() -> None:
    vanilla = query_prompt("vanilla", "Who {is} it?", [article("a")], ["old"], 5).text
    assert "Question: Who {is} it?\n" in vanilla and "up to 5 search queries" in vanilla
    assert "ID: 1\nTitle: Title a\nContext: a0 a0 a0\n" in vanilla
    assert "old" not in vanilla and vanilla.endswith("Queries:")
    plan = query_prompt("plan", "Who?", [], ["old"], 1).text
    assert "Queries asked so far:\n- old\n" in plan and "one search query" in plan and "one per line" not in plan
    assert "Articles found so far" not in plan.partition("Question: Who?")[2]
