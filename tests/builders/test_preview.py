"""What a dry run says of a build before it begins."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from icr2_cli import app

Said = Callable[..., str]


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """What `icr2 build --dry-run` prints for a recipe with three questions in its file."""
    answer = {"answer": "a", "provenance": [{"wikipedia_id": "1", "start_paragraph_id": 1, "end_paragraph_id": 1,
              "start_character": 0, "end_character": 4, "title": "T"}]}  # fmt: skip
    questions = [{"id": f"q{n}", "input": f"question {n}?", "output": [answer] if n < 3 else []} for n in range(5)]
    (tmp_path / "dev.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in questions))
    (tmp_path / "pages.jsonl").write_text("")
    recipe = {
        "name": "mine",
        "tokenizer": "smollm2",
        "knowledge": {"reader": "kilt", "path": "pages.jsonl"},
        "tasks": {
            "nq": {
                "kind": "qa",
                "files": {"dev": {"reader": "kilt", "path": "dev.jsonl"}},
                "take": {"test": {"source": "dev", "n": 2}, "validation": {"source": "dev", "n": 1}},
            }
        },
        "lengths": ["1k"],
        "ratios": [0],
    }
    (tmp_path / "recipe.yaml").write_text(json.dumps(recipe))

    def run(*more: str) -> str:
        command = ["build", str(tmp_path / "recipe.yaml"), "--out", str(tmp_path / "out"), "--dry-run", *more]
        app(command, prog_name="icr2", standalone_mode=False)
        return capsys.readouterr().out

    return run


def test_a_file_with_fewer_questions_than_its_splits_ask_for_is_named(said: Said) -> None:
    """Two of its five records name no evidence."""
    found = said("--set", "tasks.nq.take.test.n=1000")
    assert "note: tasks.nq: its splits ask for 1,001 questions of dev, which has only 3\n" in found


@pytest.mark.parametrize("more", [(), ("--set", "tasks.nq.take.test.n=1000", "--limit", "1")])
def test_a_file_with_enough_is_not_mentioned(more: tuple[str, ...], said: Said) -> None:
    assert "note" not in said(*more)


def test_a_file_that_is_not_there_yet_has_the_rows_that_the_recipe_says(said: Said) -> None:
    there = ("--set", "tasks.nq.files.dev.path=http://127.0.0.1:9/dev.jsonl", "--set", "tasks.nq.files.dev.rows=2")
    assert "its splits ask for 3 questions of dev, which has only 2\n" in said(*there)
