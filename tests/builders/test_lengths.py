"""What a build says about lengths it misses, and about questions of which none is left."""

import json
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

import icr2_cli
from builders.errors import SetupError
from builders.lengths import length_notes
from builders.load_recipe import load_recipe
from builders.manifest import read_manifest
from builders.pipeline import run_build
from tests.builders.tiny import write_tiny_kilt
from validation.dataset import read_dataset
from validation.suite import run_suite


def notes(folder: Path, *settings: str) -> list[str]:
    """The lines about a build of the tiny KILT, whose 240 pages have a passage or two each."""
    if not (folder / "kilt").exists():
        write_tiny_kilt(folder / "kilt")
    recipe, base = load_recipe(str(folder / "kilt/recipe.yaml"), ["loft=[]", *settings], 1)
    out = folder / "out"
    build = run_build(recipe, base, out, folder / "work", 1, Console(quiet=True))
    return length_notes(build, out, read_manifest(out))


def test_a_corpus_that_is_too_small_is_told_by_config_and_by_length(tmp_path: Path) -> None:
    said = notes(tmp_path, "lengths=[1k,64k]", "ratios=[0,100]")
    budget = 65_536 - 1_024
    missed = [line for line in said if "misses its length" in line]
    assert [line.split()[0] for line in missed] == ["64k_p0", "64k_p100"]
    assert all(f"of {budget:,} tokens on average" in line for line in missed)
    (uneven,) = [line for line in said if line.startswith("the ratios of 64k differ in tokens: 64k_p100 ")]
    found = [int(number.replace(",", "")) for number in re.findall(r"64k_p\d+ ([\d,]+)", uneven)]
    assert found[0] < found[1] < budget
    (remedy,) = [line for line in said if "runs out of random passages" in line]
    assert "use shorter lengths or a larger corpus" in remedy


def test_a_k_that_is_too_large_is_told_with_the_k_that_fits(tmp_path: Path) -> None:
    write_tiny_kilt(tmp_path / "kilt")
    for task in ("nq", "hotpotqa", "fever"):  # words of nearly every passage
        path = tmp_path / f"kilt/{task}.jsonl"
        path.write_text(path.read_text().replace("number", "river town bridge harbour stone garden market tower"))
    own = ["lengths=[8k]", "ratios=[0]", "runs=null", "retrievers.bm25s.kind=bm25s"]
    (missed, remedy) = notes(tmp_path, *own, "retrievers.bm25s.k=450")
    assert missed.startswith("8k_p0 misses its length")
    k = re.fullmatch(r"8k_p0 runs out of random .* --set (retrievers\.bm25s\.k=\d+)", remedy)
    assert k
    assert notes(tmp_path, *own, k[1]) == []


def test_lengths_that_are_met_are_not_mentioned(tmp_path: Path) -> None:
    assert notes(tmp_path, "lengths=[1k,2k]", "ratios=[0,100]") == []


def test_passages_limit_a_context_beside_its_budget(tmp_path: Path) -> None:
    """No more than so many, gold among them, and none is short then; 1k has room for fewer, as without a limit."""
    notes(tmp_path, "lengths=[1k,8k]", "ratios=[0,100]")
    free = {config: pq.read_table(tmp_path / "out" / config).to_pylist() for config in ("1k_p100", "8k_p100")}
    said = notes(tmp_path, "lengths=[1k,8k]", "ratios=[0,100]", "passages=12")
    assert not [line for line in said if "misses its length" in line]
    limited = {config: pq.read_table(tmp_path / "out" / config).to_pylist() for config in free}
    assert {len(row["passages"]) for row in limited["8k_p100"]} == {12}
    assert not {flag for row in limited["8k_p100"] for flag in row["flags"]} & {"underfull", "short_pool"}
    assert max(len(row["passages"]) for row in free["1k_p100"]) <= 12
    assert limited["1k_p100"] == free["1k_p100"]
    assert read_manifest(tmp_path / "out").configs["8k_p0"].passages == 12
    checks = ["budget", "flags", "length_met"]
    outcomes = run_suite(read_dataset(tmp_path / "out"), checks, lambda _: None)
    assert {outcome.check.name for outcome in outcomes if outcome.status == "passed"} == {*checks}


@pytest.mark.parametrize("workers", [1, 2])
def test_questions_of_which_none_is_left_are_one_line(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = write_tiny_kilt(tmp_path / "kilt")
    for path in recipe.parent.glob("*.jsonl"):
        if path.name != "pages.jsonl":
            path.write_text(re.sub(r'"wikipedia_id": "\d+"', '"wikipedia_id": "999"', path.read_text()))
    arguments = ["icr2", "build", recipe, "--out", tmp_path / "out", "--workers", workers]
    monkeypatch.setattr(sys, "argv", [str(argument) for argument in arguments])
    for _ in range(2):  # also when the stage is done already
        with pytest.raises(SystemExit) as stop:
            icr2_cli.main()
        (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
        assert (stop.value.code, line) == (2, "error: no question is left: missing_page 42")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("emptied", ["configs", "files"])
@pytest.mark.parametrize("command", [["card"], ["show", "1k_p0", "nq-00"], ["view", "--out", "x.html"], ["validate"]])
def test_a_dataset_without_rows_is_one_line(
    emptied: str,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    notes(tmp_path, "lengths=[1k]", "ratios=[0]")
    path = tmp_path / "out/manifest.json"
    manifest = json.loads(path.read_text())
    if emptied == "configs":
        manifest["configs"] = {}
    else:
        manifest["configs"]["1k_p0"]["files"] = {}
    path.write_text(json.dumps(manifest))
    monkeypatch.setattr(sys, "argv", ["icr2", command[0], str(tmp_path / "out"), *command[1:]])
    with pytest.raises(SystemExit) as stop:
        icr2_cli.main()
    assert stop.value.code == 2
    assert len([line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]) == 1


def test_the_build_itself_refuses_to_write_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.pipeline._run_stages", lambda *_: None)
    monkeypatch.setattr("builders.work.Build.shards", lambda *_: [])
    with pytest.raises(SetupError, match="has no row"):
        notes(tmp_path, "lengths=[1k]")
    assert not (tmp_path / "out").exists()
