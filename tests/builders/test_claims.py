"""Claims with their own labels, built end to end: a label is not text of the source, and is compared as a whole."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from rich.console import Console

from builders.errors import SetupError
from builders.files import read_table
from builders.load_recipe import load_recipe
from builders.manifest import read_manifest
from builders.pipeline import run_build
from builders.prompts import render
from builders.stages.questions import targets_of
from builders.stages.retrieval import query_of
from builders.work import Build
from tests.builders.tiny import write_lines, write_tiny_kilt

LABELS = ["SUPPORTED", "NOT_SUPPORTED"]


def hover(folder: Path, answers: list[str], **task: Any) -> Build:
    """Builds the tiny KILT's claims as a task named `hover`; every second page has the word `supported`."""
    recipe = write_tiny_kilt(folder / "kilt")
    values = yaml.safe_load(recipe.read_text())
    claims = [json.loads(line) for line in (folder / "kilt" / "fever.jsonl").read_text().splitlines()]
    for number, claim in enumerate(claims):
        claim["output"][0]["answer"] = answers[number % len(answers)]
    write_lines(folder / "kilt" / "hover.jsonl", claims)
    pages = [json.loads(line) for line in (folder / "kilt" / "pages.jsonl").read_text().splitlines()]
    for page in pages[::2]:
        page["text"][1] = page["text"][1].strip() + " It is supported by its king and not supported by others.\n"
    write_lines(folder / "kilt" / "pages.jsonl", pages)
    for run in (folder / "kilt" / "runs").glob("*.parquet"):
        table = pq.read_table(run)
        qids = [qid.replace("fever-", "hover-") for qid in table.column("qid").to_pylist()]
        pq.write_table(table.set_column(0, "qid", pa.array(qids)), run)
    files = {"all": {"reader": "kilt", "path": "hover.jsonl"}}
    take = {"test": {"source": "all", "n": 6}, "validation": {"source": "all", "n": 4}}
    values |= {
        "tasks": {"hover": {"files": files, "take": take, **task}},
        "lengths": ["1k"],
        "ratios": [50],
        "loft": [],
    }
    recipe.write_text(yaml.safe_dump(values, sort_keys=False))
    loaded, base = load_recipe(str(recipe), [])
    return run_build(loaded, base, folder / "out", folder / "work", 1, Console(quiet=True))


def test_a_label_is_in_no_query_and_no_filter(tmp_path: Path) -> None:
    build = hover(tmp_path, LABELS, kind="fact", labels=LABELS)
    claims = [target.question for table in build.tables("gold") for target in targets_of(table)]
    assert {claim.answer_kind for claim in claims} == {"label"}
    assert [query_of(claim).text for claim in claims] == [claim.query for claim in claims]
    reasons = {row["reason"] for path in build.paths("filter") for row in read_table(path).to_pylist()}
    assert "contains_answer" not in reasons
    rows = pq.read_table(tmp_path / "out" / "1k_p50" / "test-00000-of-00001.parquet").to_pylist()
    others = [passage for row in rows for passage in row["passages"] if passage["role"] != "gold"]
    assert any("not supported" in passage["text"] for passage in others)
    assert {(row["kind"], row["answer_kind"], *row["flags"][:1]) for row in rows} == {
        ("fact", "label", "answer_filter_not_applicable")
    }


def test_the_manifest_has_the_labels_and_prompts_ask_for_them(tmp_path: Path, tokenizer: Any) -> None:
    words = {"SUPPORTED": "SUPPORTED", "NOT_SUPPORTED": "NOT SUPPORTED"}
    hover(tmp_path, LABELS, kind="fact", labels=words, source="HoVer")
    task = read_manifest(tmp_path / "out").task("hover")
    assert (task.kind, dict(task.labels), task.scored_by, task.source) == ("fact", words, "label", "HoVer")
    for row in pq.read_table(tmp_path / "out" / "1k_p50" / "test-00000-of-00001.parquet").to_pylist():
        prompt = render(task, row["query"], [(p["title"], p["text"]) for p in row["passages"]]).text
        assert "judgment on its factuality as SUPPORTED or NOT SUPPORTED:\n" in prompt
        assert row["n_tokens"] == len(tokenizer(prompt)["input_ids"])


def test_a_claim_without_a_label_is_counted(tmp_path: Path) -> None:
    build = hover(tmp_path, [*LABELS, "NOT ENOUGH INFO"], kind="fact", labels=LABELS)
    counts = read_manifest(tmp_path / "out").counts["questions"]
    assert counts["no_label"] == counts["not_a_label"] == 4  # of 14, every third from the third on
    assert {row["answers"][0] for table in build.tables("gold") for row in table.to_pylist()} == set(LABELS)


def test_labels_that_no_answer_has_stop_the_build(tmp_path: Path) -> None:
    with pytest.raises(
        SetupError, match=r"tasks.hover: no answer can be scored; the first is 'SUPPORTED', wanted one of"
    ):
        hover(tmp_path, LABELS, kind="fact", labels=["SUPPORTS", "REFUTES"])
    assert not (tmp_path / "out").exists()
