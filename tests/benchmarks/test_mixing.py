import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.mixing import Asked, begins_with_gold, dealt, our_contexts, script_contexts
from builders.corpus import Corpus
from builders.retrieve.base import Hit
from builders.schema import Question
from tests.builders.small_corpus import page, small_corpus

TEXTS = ("Trams run.", "Rain falls.", "Snow lies.", "Ships sail far.", "Birds sing.", "Gold is here.")


@pytest.fixture
def passages(tmp_path: Path) -> Corpus:
    """Six passages, rows 0 to 5; row 5 is every question's gold."""
    return small_corpus(tmp_path, [page(str(n), f"Page {n}", text) for n, text in enumerate(TEXTS)])


def asked(name: str, rows: list[int], gold: int = 5) -> Asked:
    question = Question(name, "nq", "?", ["sixpence"], "text", [], 1, [])
    return Asked(question, [gold], [], [Hit(row, -rank) for rank, row in enumerate(rows)])


def test_a_list_is_dealt_in_turn_and_nothing_is_lost() -> None:
    hits = [Hit(row, -row) for row in range(12)]
    shares = list(dealt(hits).values())
    assert [hit.row for hit in shares[0]] == [0, 5, 10]
    assert sorted(hit.row for share in shares for hit in share) == list(range(12))


def test_the_script_bars_what_an_earlier_question_used_and_ours_does_not(passages: Corpus) -> None:
    """No question changes another's row."""
    questions = [asked("q1", [0, 1, 2]), asked("q2", [1, 0, 4])]
    assert list(script_contexts(questions, passages)) == [[0, 1, 2], [4]]
    assert list(script_contexts(questions[::-1], passages)) == [[1, 0, 4], [2]]
    assert list(our_contexts(questions, passages)) == [[0, 1, 2], [1, 0, 4]]
    assert list(our_contexts(questions[::-1], passages)) == [[1, 0, 4], [0, 1, 2]]


def test_gold_is_first_no_more_often_than_by_chance(passages: Corpus) -> None:
    """One of four passages is gold, so a quarter of 400 contexts begin with it, give or take 5 deviations."""
    first = sum(begins_with_gold(asked(f"q{n}", []), [0, 1, 2], passages) for n in range(400))
    assert 57 <= first <= 143


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_task(small_data: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.mixing", "--data", str(small_data)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(f" {task} " in done.stdout for task in ("nq", "hotpotqa", "fever", "wow"))
