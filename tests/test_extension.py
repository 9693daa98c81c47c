"""A package of somebody else brings one of each thing, and the commands use them."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from builders.prompts import render
from builders.tasks import TaskSpec
from tests.builders.tiny import first_sentence, page, write_lines
from tests.extension import icr2, write_site

pytestmark = pytest.mark.slow
CONFIG = "1k_p50"
QUESTIONS = 14


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe that names the package's reader, retriever and scorer, and its sources."""
    folder, rng = tmp_path_factory.mktemp("extended"), Random(3)
    pages = [page(n, rng) for n in range(240)]
    rows = ["\t".join((p["wikipedia_id"], p["wikipedia_title"], p["text"][1].strip())) for p in pages]
    (folder / "pages.tsv").write_text("\n".join([*rows, "no tabs here"]), encoding="utf-8")
    write_lines(folder / "nq.jsonl", [_question(n, pages) for n in range(QUESTIONS)])
    recipe = {
        "name": "extended",
        "tokenizer": "smollm2",
        "knowledge": {"reader": "lines", "path": "pages.tsv"},
        "tasks": {
            "nq": {
                "kind": "qa",
                "scorer": "begins",
                "files": {"all": {"reader": "kilt", "path": "nq.jsonl"}},
                "take": {"test": {"source": "all", "n": QUESTIONS}},
            }
        },
        "retrievers": {"shared": {"kind": "overlap", "k": 60}},
        "lengths": ["1k"],
        "ratios": [50],
    }
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    return folder


def _question(n: int, pages: list[dict]) -> dict:
    output = [{"answer": f"zq{n}x", "provenance": [first_sentence(pages[n])]}]
    return {"id": f"{n:02d}", "input": f"which river town has the bridge number {n}?", "output": output}


@pytest.fixture(scope="module")
def dataset(work: Path, site: Path) -> Path:
    built = icr2("build", "recipe.yaml", "--out", "out", cwd=work, site=site)
    assert built.returncode == 0, built.stderr
    return work / "out"


def rows_of(dataset: Path) -> list[dict[str, Any]]:
    return pq.read_table(dataset / CONFIG).to_pylist()


def confounders(dataset: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in rows_of(dataset):
        for passage in row["passages"]:
            if passage["role"] == "confounder":
                yield f"{row['query']} {row['answers'][0]}", passage


def test_its_retriever_and_reader_build_a_dataset(dataset: Path) -> None:
    found = list(confounders(dataset))
    assert len(rows_of(dataset)) == QUESTIONS and len(found) > QUESTIONS
    for query, passage in found:
        words = set(f"{passage['title']} {passage['text']}".casefold().split())
        assert passage["retrievers"] == ["shared"]
        assert passage["score"] == len(words & set(query.casefold().split()))
    manifest = json.loads((dataset / "manifest.json").read_text())
    made = manifest["retrievers"]["shared"]
    assert (made["says"], made["level"], made["neural"]) == ("shared words, counted", "passage", False)
    assert made["icr2-sample"] == "0.1.0"
    assert manifest["tasks"]["nq"]["scorer"] == "begins"
    assert manifest["counts"]["pages"] == {"read": 241, "broken_line": 1, "pages": 240}


def test_its_check_is_one_of_the_suite(dataset: Path, work: Path, site: Path) -> None:
    assert icr2("validate", dataset, cwd=work, site=site).returncode == 0
    found = {check["name"]: check for check in json.loads((dataset / "validation.json").read_text())["checks"]}
    assert (found["lucky"]["status"], found["lucky"]["examined"], found["lucky"]["failing"]) == ("failed", QUESTIONS, 1)
    assert [one["id"] for one in found["lucky"]["ids"]] == ["nq-13"]


def test_its_model_is_asked_and_its_scorer_scores(dataset: Path, work: Path, site: Path) -> None:
    arguments = ("--config", CONFIG, "--model", "echo:ZQ3X is it", "--method", "vanilla_rag", "--out", "run")
    asked = icr2("eval", dataset, *arguments, cwd=work, site=site)
    assert asked.returncode == 0, asked.stderr
    rows = [json.loads(line) for line in (work / "run" / "results.jsonl").read_text().splitlines()]
    right = {row["id"]: row["scores"]["begins"] for row in rows}
    assert right == {f"nq-{n:02d}": float(n == 3) for n in range(QUESTIONS)}
    assert sum(row["scores"]["begins_strict"] for row in rows) == 0


def test_its_method_asks_its_own_prompt(dataset: Path, work: Path, site: Path) -> None:
    arguments = ("--config", CONFIG, "--model", "echo:x", "--method", "first@2", "--limit", "3", "--out", "first")
    asked = icr2("eval", dataset, *arguments, cwd=work, site=site)
    assert asked.returncode == 0, asked.stderr
    by_id = {row["id"]: row for row in rows_of(dataset)}
    rows = [json.loads(line) for line in (work / "first" / "results.jsonl").read_text().splitlines()]
    assert [row["method"] for row in rows] == ["first@2"] * 3
    for row in rows:
        instance = by_id[row["id"]]
        shown = [(passage["title"], passage["text"]) for passage in instance["passages"][:2]]
        prompt = render(TaskSpec("nq", "qa"), instance["query"], shown)
        assert row["prompt_sha256"] == sha256(prompt.text.encode()).hexdigest()


def test_the_card_needs_none_of_it(dataset: Path, work: Path) -> None:
    written = icr2("card", dataset, cwd=work)
    assert written.returncode == 0, written.stderr
    card = (dataset / "README.md").read_text(encoding="utf-8")
    assert "| `shared` | shared words, counted |  | 60 passages | icr2-sample 0.1.0 |" in card


def test_without_the_package_its_names_are_unknown(work: Path) -> None:
    built = icr2("build", "recipe.yaml", "--out", "other", cwd=work)
    assert built.returncode == 2
    own = "qa, label, dialogue, set, needle, all_needles"
    assert built.stderr == f"error: recipe.yaml: tasks.nq.scorer: no scorer 'begins'; available: {own}\n"
    built = icr2("build", "recipe.yaml", "--out", "other", "--set", "tasks.nq.scorer=null", cwd=work)
    assert built.returncode == 2
    assert built.stderr == (
        "error: knowledge.reader 'lines' is unknown; there are kilt, hotpotqa, twowiki, musique, intros, loft\n"
    )
