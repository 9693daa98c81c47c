"""Back ends by prefix, and the one that replays a run."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models import BACK_ENDS, back_end_of, is_remote, load_model
from eval_harness.models.chat import ChatServer
from eval_harness.models.fake import FakeModel
from eval_harness.models.local import Local
from tests.eval_harness.running import plan_of, reader, results_of


@pytest.mark.parametrize(
    ("spec", "back_end", "name"),
    [
        ("smollm2", Local, "smollm2"),
        ("org/model@main", Local, "org/model@main"),
        (r"C:\models\tiny", Local, r"C:\models\tiny"),
        ("local:openai:x", Local, "openai:x"),
        ("openai:org/model:free", ChatServer, "org/model:free"),
        ("openai:", ChatServer, ""),
    ],
)
def test_a_prefix_chooses_the_back_end(spec: str, back_end: type, name: str) -> None:
    found, rest = back_end_of(spec)
    assert (type(found), rest) == (back_end, name)


def test_only_local_models_have_their_weights_here() -> None:
    assert {name: back_end.remote for name, back_end in BACK_ENDS.items()} == {
        "local": False,
        "openai": True,
        "replay": True,
    }
    assert is_remote("openai:m") and not is_remote("smollm2")


def kept(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return f"replay:{path}"


def digest(prompt: str) -> str:
    return sha256(prompt.encode()).hexdigest()


def test_a_run_is_replayed_by_its_prompts(tmp_path: Path) -> None:
    twice = {"prompt_sha256": digest("Who?"), "output": "Jane Austen"}
    rows = ({**twice, "status": "ok"}, twice, {"prompt_sha256": digest("When?"), "output": None})
    model = load_model(kept(tmp_path / "results.jsonl", *rows))
    assert [found.text for found in model.generate(["Who?"], 8)] == ["Jane Austen"]


def test_a_replayed_run_has_the_same_outputs_and_scores(dataset_folder: Path, tmp_path: Path) -> None:
    plan = plan_of(dataset_folder)
    first = results_of(plan, FakeModel(reader), tmp_path / "first")
    again = results_of(plan, load_model(f"replay:{tmp_path / 'first' / 'results.jsonl'}"), tmp_path / "again")
    assert any(row.scores for row in first.values())
    assert {key: (row.output, row.status, row.scores) for key, row in again.items()} == {
        key: (row.output, row.status, row.scores) for key, row in first.items()
    }


def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    one, other = ({"prompt_sha256": "0" * 64, "output": text} for text in ("a", "b"))
    with pytest.raises(SetupError, match="two outputs for one prompt"):
        load_model(kept(tmp_path / "two.jsonl", one, other))
    with pytest.raises(SetupError, match="holds no output"):
        load_model(kept(tmp_path / "none.jsonl"))
    with pytest.raises(SetupError, match="cannot be read"):
        load_model(f"replay:{tmp_path / 'missing.jsonl'}")
