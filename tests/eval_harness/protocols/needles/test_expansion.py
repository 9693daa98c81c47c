import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.models.base import Generation
from eval_harness.models.fake import FakeModel
from eval_harness.protocols.needles.expansion import expanded, read_terms, terms_for, terms_in, written_terms


def test_terms_stand_after_the_question() -> None:
    assert expanded("Who?", ["a", "b c", "d"], 2) == "Who? a, b c"
    assert expanded("Who?", ["a"], 9) == "Who? a"
    assert expanded("Who?", ["a"], 0) == expanded("Who?", [], 5) == "Who?"


@pytest.mark.parametrize(
    ("output", "terms"),
    [
        ("tower, Lisbon , tower bridge.", ["tower", "Lisbon", "tower bridge"]),
        ("1. tower\n2) river; tram\n- Tower\n", ["tower", "river", "tram"]),
        ("* 25 de Abril Bridge, , \n\n", ["25 de Abril Bridge"]),
        ("Here is a list of words that you asked for, tower", ["tower"]),
        ("", []),
    ],
)
def test_terms_are_read_from_a_list(output: str, terms: list[str]) -> None:
    assert terms_in(output) == terms


def test_a_file_of_terms(tmp_path: Path) -> None:
    path = tmp_path / "terms.jsonl"
    path.write_text('{"question": "Who?", "terms": ["a", "b"]}\n\n{"question": "When?", "terms": []}\n')
    assert read_terms(path) == {"Who?": ["a", "b"], "When?": []}
    assert terms_for(["Who?"], read_terms(path), path) == {"Who?": ["a", "b"]}
    with pytest.raises(SetupError, match="no terms for 2 questions, such as 'When"):
        terms_for(["Who?", "When?", "Where?"], read_terms(path), path)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: wanted"),
        ('{"question": "Why?"}', "line 2: wanted"),
        ('{"question": "Why?", "terms": "a b"}', "line 2: wanted"),
        ('{"question": "Why?", "terms": [1]}', "line 2: wanted"),
        ('["Why?"]', "line 2: wanted"),
        ('{"question": "Who?", "terms": ["c"]}', "line 2: duplicate question"),
    ],
)
def test_a_line_that_is_none_is_named(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "terms.jsonl"
    path.write_text('{"question": "Who?", "terms": ["a"]}\n' + line)
    with pytest.raises(SetupError, match=says):
        read_terms(path)


def test_a_model_writes_terms_once_for_each_question(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "b, c, d" if "Who" in prompt else "no list of anything that could be of any use here"

    kept, done = tmp_path / "run" / "terms.jsonl", []
    found = written_terms(["Who?", "When?"], FakeModel(answer), 2, kept, lambda: done.append(1))
    assert found == {"Who?": ["b", "c"], "When?": []}
    assert len(done) == len(asked) == 2
    assert all("List 2 different" in prompt for prompt in asked)
    lines = kept.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"question": q, "terms": t} for q, t in found.items()]

    kept.write_text(lines[0] + "\n" + lines[1][:9])  # stopped while it was written
    assert written_terms(["Who?", "When?"], FakeModel(answer), 2, kept, lambda: None) == found
    assert len(asked) == 3
    assert kept.read_text().splitlines() == lines


def test_a_model_that_writes_no_list_is_named(tmp_path: Path) -> None:
    talking = FakeModel(lambda prompt: "The character who has been to Lisbon is the one.", name="small")
    with pytest.raises(SetupError, match="small generated no terms for any question"):
        written_terms(["Who?", "When?"], talking, 2, tmp_path / "terms.jsonl", lambda: None)


def test_a_model_has_room_for_its_terms(tmp_path: Path) -> None:
    limits: list[int] = []

    class Limited(FakeModel):
        def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
            limits.append(max_new_tokens)
            return super().generate(prompts, max_new_tokens)

    written_terms(["Who?"], Limited(lambda prompt: "a"), 250, tmp_path / "terms.jsonl", lambda: None)
    assert limits[0] >= 4 * 250
