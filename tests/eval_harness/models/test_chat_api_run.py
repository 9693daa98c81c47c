"""Whole runs against a server that misbehaves: no row is lost, each has its status, and the same run again mends it."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.progress import Progress
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands.evaluate import register
from eval_harness.data.dataset import open_dataset
from eval_harness.methods.limits import Limits
from eval_harness.models.chat_api import ChatModel
from eval_harness.run.plan import Plan
from eval_harness.run.record import record
from eval_harness.run.results import Results, Row, read_rows
from eval_harness.run.run import run
from tests.eval_harness.conftest import instance
from tests.eval_harness.models.chat_server import KEY, ChatServer, Fault, completion
from tests.eval_harness.models.test_chat_api import PASSING

Make = Callable[..., ChatModel]
Run = Callable[..., dict[str, Row]]


@pytest.fixture
def run_on(make_dataset: Callable[..., Path], tmp_path: Path, make_model: Make) -> Run:
    """Runs one closed-book question for each name, four at a time; the right answer is the name."""

    def go(names: Sequence[str], to: str = "run", **options: Any) -> dict[str, Row]:
        rows = [instance(f"nq-{name}", "nq", f"Who is {name}?", [name], [0], ["text"]) for name in names]
        dataset = open_dataset(make_dataset(c1k_p0=rows))
        plan = Plan(dataset, ("1k_p0",), ("closed_book",), limits=Limits({"qa": 16}), batch_size=4)
        model = make_model(**options)
        results = Results(tmp_path / to, record(plan, model))
        run(plan, model, results, Progress(disable=True))
        assert len(results.rows) == len(results.done)
        return {row.id.removeprefix("nq-"): row for row in results.rows}

    return go


ODD = {
    "empty": completion(""),
    "null": completion(None),
    "thinking": completion(None, finish="length", reasoning_content="thinking"),
    "long": completion("long and", finish="length"),
    "Zoë 🍕": completion("“Zoë 🍕”\u2028東京"),
}


@pytest.fixture(autouse=True)
def names_answer(server: ChatServer) -> None:
    """The server answers with the name in the question, or oddly where the name is an odd one."""

    def answer(prompt: str) -> Any:
        name = prompt.rpartition("Who is ")[2].partition("?")[0]
        return ODD.get(name, name)

    server.answer = answer


def test_every_trouble_at_once_ends_with_the_right_statuses(run_on: Run, server: ChatServer, tmp_path: Path) -> None:
    """An answer that stands in the thoughts alone is none."""
    passing = {f"once {name}": replace(fault, of=f"once {name}?") for name, fault in PASSING.items()}
    staying = {f"ever {name}": replace(fault, of=f"ever {name}?") for name, fault in PASSING.items()}
    too_long = {"error": {"message": "maximum context length is 9 tokens"}}
    staying["ever refused"] = Fault(400, too_long, of="ever refused")
    staying["ever filtered"] = Fault(body=completion("x", finish="content_filter"), of="ever filtered")
    server.order(*passing.values())
    server.order(*staying.values(), times=6)

    names = ["fine", *passing, *staying, *ODD]
    found = run_on(names)
    assert {name: row.status for name, row in found.items()} == {
        "fine": "ok",
        **dict.fromkeys(passing, "ok"),
        **dict.fromkeys(staying, "error"),
        "empty": "unparsed",
        "null": "unparsed",
        "thinking": "unparsed",
        "long": "ok",
        "Zoë 🍕": "ok",
    }
    assert (found["thinking"].output, found["thinking"].truncated, found["long"].truncated) == ("", True, True)
    assert found["Zoë 🍕"].output == "“Zoë 🍕”\u2028東京"
    assert found["ever refused"].error == "400: maximum context length is 9 tokens"
    assert all(found[name].scores["subspan_em"] == 0 for name in [*staying, "empty", "null", "thinking"])

    server.forgive()
    again = run_on(names)
    assert {again[name].status for name in staying} == {"ok"}
    assert {name: row for name, row in again.items() if name not in staying} == {
        name: row for name, row in found.items() if name not in staying
    }
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_slow_answer_is_an_error_and_comes_when_there_is_patience(run_on: Run, server: ChatServer) -> None:
    server.order(Fault(hang=True, of="slow"), times=4)
    found = run_on(["slow", "fine"], timeout_s=1, tries=2)
    assert (found["slow"].status, found["slow"].error) == ("error", "no answer within 1 s (2 tries)")
    assert found["fine"].status == "ok"
    server.forgive()
    assert run_on(["slow", "fine"], timeout_s=60)["slow"].answer == "slow"


@pytest.mark.parametrize("seed", range(4))
def test_troubles_that_pass_leave_no_trace(seed: int, run_on: Run, server: ChatServer, tmp_path: Path) -> None:
    names = [f"n{number:02}" for number in range(24)]
    run_on(names, to="quiet")
    draw = random.Random(seed)
    server.order(*(replace(draw.choice(list(PASSING.values())), of=draw.choice(names)) for _ in range(12)))
    run_on(names, to="troubled", tries=13)
    quiet, troubled = (lines_without_latency(tmp_path / name) for name in ("quiet", "troubled"))
    assert quiet == troubled
    assert (tmp_path / "quiet/run.json").read_bytes() == (tmp_path / "troubled/run.json").read_bytes()


def lines_without_latency(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in row.items() if key != "latency_s"} for row in rows]


def test_a_key_that_is_revoked_midway_stops_the_run_which_goes_on_later(
    run_on: Run, server: ChatServer, tmp_path: Path
) -> None:
    names = [f"n{number:02}" for number in range(12)]
    server.order(Fault(401, {"error": {"message": f"revoked: {KEY}"}}, of="n05"))
    with pytest.raises(SetupError, match=r"tiny answers no further prompt: 401: revoked: \[secret\]; check the key"):
        run_on(names)
    statuses = {row.id: row.status for row in read_rows(tmp_path / "run")}
    assert len(statuses) == 7 and "nq-n05" not in statuses  # two batches of four, less what was refused
    found = run_on(names)
    assert {name: (row.status, row.answer) for name, row in found.items()} == {name: ("ok", name) for name in names}


def test_a_known_limit_is_overlength_and_not_asked(run_on: Run, server: ChatServer) -> None:
    """Never cut."""
    short, long = run_on(["ab"], to="first")["ab"], "a" * 50
    assert short.n_prompt_tokens is not None
    found = run_on(["ab", long], max_positions=short.n_prompt_tokens + 16)
    assert (found["ab"].status, found[long].status, found[long].scores) == ("ok", "overlength", {})
    assert not [prompt for prompt in server.prompts if long in prompt]


def test_rows_hold_what_the_server_counted(run_on: Run, server: ChatServer) -> None:
    server.answer = lambda prompt: completion("ab", usage={"prompt_tokens": 40, "completion_tokens": 3})
    assert run_on(["ab"])["ab"].n_new_tokens == 3


def test_the_command(
    make_dataset: Callable[..., Path], server: ChatServer, counter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    rows = [instance(f"nq-{name}", "nq", f"Who is {name}?", [name], [0], ["text"]) for name in ("ab", "cd")]
    folder = make_dataset(c1k_p0=rows)
    server.order(Fault(400, {"error": {"message": f"no {KEY}"}}, of="ab"))
    app = typer.Typer()
    register(app)
    arguments = ["eval", str(folder), "--config", "1k_p0", "--model", "openai:org/tiny", "--method", "closed_book"]
    arguments += ["--tokenizer", counter.name]
    planned = CliRunner().invoke(app, [*arguments, "--dry-run", "--price-in", "1", "--price-out", "1"])
    assert planned.exit_code == 0, planned.output
    assert server.asked == []
    run_folder = tmp_path / "run"
    done = CliRunner().invoke(app, [*arguments, "--request-field", "top_k=1", "--out", str(run_folder)])
    assert done.exit_code == 0, done.output
    assert {row.id: row.status for row in read_rows(run_folder)} == {"nq-ab": "error", "nq-cd": "ok"}
    assert json.loads((run_folder / "run.json").read_text())["model"]["decoding"]["top_k"] == 1
    written = [path.read_text(encoding="utf-8") for path in run_folder.iterdir()]
    assert not [text for text in [*written, planned.output, done.output] if KEY in text]
