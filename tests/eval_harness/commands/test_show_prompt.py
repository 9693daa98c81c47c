import json
from hashlib import sha256
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.run.results import read_rows
from tests.eval_harness.conftest import save_model

RUNNER = CliRunner()
PROMPT = render(
    spec_of("nq"), "who wrote Emma", [("Title 0", "Rain falls."), ("Title 1", "Emma is by Jane Austen.")]
).text


def show(app: typer.Typer, folder: Path, model: Path | str, *more: str, id: str = "nq-1") -> tuple[str, str]:
    result = RUNNER.invoke(
        app, ["show-prompt", str(folder), "1k_p0", id, "--model", str(model), *more], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_the_text_alone_is_printed_and_facts_beside_it(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path
) -> None:
    text, facts = show(app, dataset_folder, chat_folder, "--system", "CITE")
    assert text == (
        f"<s><|im_start|>system\nCITE<|im_end|>\n<|im_start|>user\n{PROMPT}<|im_end|>\n<|im_start|>assistant\n"
    )
    plain = text.replace("<s>", "*").replace("<|im_start|>", "*").replace("<|im_end|>", "*")
    n_tokens = len(plain)  # one for a mark, one for any other letter
    assert f"tokens: {n_tokens} + 64 for the output, of 4096: fits" in facts
    assert f"sha256 of this text: {sha256(text.encode()).hexdigest()}" in facts
    assert f"as in results.jsonl: {sha256(PROMPT.encode()).hexdigest()}" in facts


def test_it_is_the_prompt_of_a_run(app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path) -> None:
    """the template counts, and so does room for the output"""
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--task", "nq"]
    arguments += [
        "--method",
        "oracle_rag+cite",
        "--limit",
        "1",
        "--max-new-tokens",
        "4",
        "--out",
        str(tmp_path / "run"),
    ]
    assert RUNNER.invoke(app, arguments, catch_exceptions=False).exit_code == 0
    (row,) = read_rows(tmp_path / "run")
    _, facts = show(app, dataset_folder, chat_folder, "--method", "oracle_rag+cite")
    assert f"tokens: {row.n_prompt_tokens} + {64 + 32} for the output, of 4096: fits" in facts
    assert f"as in results.jsonl: {row.prompt_sha256}" in facts
    assert json.loads((tmp_path / "run" / "run.json").read_text())["model"]["system"] is None


def test_what_does_not_fit_is_said(app: typer.Typer, dataset_folder: Path, tmp_path: Path) -> None:
    small = save_model(tmp_path / "small", positions=300)
    _, facts = show(app, dataset_folder, small, "--max-new-tokens", "1")
    found = int(facts.partition("tokens: ")[2].split()[0])
    assert f"{found} + 1 for the output, of 300: fits" in facts
    _, facts = show(app, dataset_folder, small, "--max-new-tokens", str(301 - found))
    assert "of 300: overlength" in facts


def test_what_is_missing_is_named(app: typer.Typer, dataset_folder: Path, chat_folder: Path) -> None:
    with pytest.raises(SetupError, match="1k_p0/test has no instance 'nq-9'"):
        show(app, dataset_folder, chat_folder, id="nq-9")
    with pytest.raises(SetupError, match="no method rag"):
        show(app, dataset_folder, chat_folder, "--method", "rag")
    with pytest.raises(SetupError, match="a server applies its own chat template"):
        show(app, dataset_folder, "openai:m")
