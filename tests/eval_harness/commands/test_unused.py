"""Options that would do nothing are refused by name, and a local model takes the limit that it is given."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.run.results import read_rows

RUNNER = CliRunner()


def asked(folder: Path, model: object, *more: str) -> list[str]:
    base = ["eval", str(folder), "--config", "1k_p0", "--method", "vanilla_rag", "--task", "nq"]
    return [*base, "--model", str(model), *more]


@pytest.mark.parametrize(
    ("model", "option", "said"),
    [
        ("local", "--base-url=http://x/v1", "--base-url"),
        ("local", "--concurrency=2", "--concurrency"),
        ("local", "--timeout=5", "--timeout"),
        ("local", "--limit-field=max_completion_tokens", "--limit-field"),
        ("local", "--request-field=a=1", "--request-field"),
        ("local", "--tokenizer=smollm2", "--tokenizer"),
        ("openai:m", "--dtype=float32", "--dtype"),
        ("openai:m", "--attention=flash", "--attention"),
        ("openai:m", "--no-prefix-reuse", "--no-prefix-reuse"),
        ("openai:m", "--template-field=enable_thinking=false", "--template-field"),
        ("replay:r/results.jsonl", "--system=CITE", "--system"),
        ("replay:r/results.jsonl", "--max-positions=9", "--max-positions"),
    ],
)
def test_an_option_that_does_nothing_is_refused_by_name(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, model: str, option: str, said: str
) -> None:
    name = str(chat_folder) if model == "local" else model
    with pytest.raises(SetupError, match=rf"^{said} does nothing for .*; leave it out"):
        RUNNER.invoke(app, asked(dataset_folder, name, option), catch_exceptions=False)


def test_prices_need_a_dry_run_and_each_other(app: typer.Typer, dataset_folder: Path, chat_folder: Path) -> None:
    prices = ("--price-in", "1", "--price-out", "1")
    with pytest.raises(SetupError, match="do nothing without --dry-run"):
        RUNNER.invoke(app, asked(dataset_folder, chat_folder, *prices), catch_exceptions=False)
    with pytest.raises(SetupError, match="do nothing alone"):
        RUNNER.invoke(app, asked(dataset_folder, chat_folder, *prices[:2], "--dry-run"), catch_exceptions=False)


def test_a_local_model_takes_the_limit_that_it_is_given_and_the_table_says_so(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    arguments = asked(dataset_folder, chat_folder, "--max-positions", "200", "--max-new-tokens", "4", "--out", str(run))
    result = RUNNER.invoke(app, arguments)
    assert isinstance(result.exception, SetupError), result.output
    assert {row.status for row in read_rows(run)} == {"overlength"}
    assert "context length: 200 tokens (--max-positions); longer prompts are overlength" in result.stdout
    recorded = json.loads((run / "run.json").read_text())["model"]
    assert (recorded["max_positions"], recorded["max_positions_from"]) == (200, "--max-positions")
    arguments = asked(dataset_folder, chat_folder, "--max-new-tokens", "4", "--out", str(tmp_path / "longer"))
    assert "context length: 4,096 tokens (max_position_embeddings);" in RUNNER.invoke(app, arguments).stdout
