"""LOFT as it is distributed: one corpus is the context of all queries of a task and length."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset

from builders.errors import SetupError
from builders.load_recipe import load_recipe
from builders.manifest import read_manifest
from builders.prompts import render
from builders.tokens import token_counter
from eval_harness.run.results import read_rows
from icr2_cli import app
from tests.eval_harness.conftest import save_model

RIVERS = ("Alba", "Brenta", "Cusa", "Drava", "Enns")


def lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


def query(qid: str, text: str, answers: list[str], *pids: str) -> dict[str, Any]:
    return {"qid": qid, "query_text": text, "answers": answers, "metadata": {"qrels": [[pid, 1] for pid in pids]}}


def town(number: int) -> dict[str, Any]:
    text = f"Town {number} lies on the {RIVERS[number % 5]}. It was founded by settler{number} in {1800 + number}."
    return {"pid": f"doc{number}", "title_text": f"Town {number}", "passage_text": text, "metadata": {}}


def write_loft(folder: Path) -> Path:
    """Ten and twelve towns; questions on one of them, and one on all towns of a river."""
    for length, towns in (("1k", 10), ("2k", 12)):
        for task in ("nq", "quest"):
            lines(folder / "rag" / task / length / "corpus.jsonl", map(town, range(towns)))
        for name, numbers in (("dev", [0]), ("test", [1, 2, 3]), ("few_shot", [4])):
            asked = (query(f"{name}{n}", f"who founded town {n}?", [f"settler{n}"], f"doc{n}") for n in numbers)
            lines(folder / "rag" / "nq" / length / f"{name}_queries.jsonl", asked)
        alba = query("q0", "towns on the Alba", ["Town 0", "Town 5"], "doc0", "doc5")
        lines(folder / "rag" / "quest" / length / "test_queries.jsonl", [alba])
    return folder


def icr2(*command: object) -> int:
    return app([*map(str, command)], prog_name="icr2", standalone_mode=False) or 0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of such a folder."""
    folder = tmp_path_factory.mktemp("loft")
    out = folder / "out"
    assert icr2("build", "loft", "--set", f"data={write_loft(folder)}", "--out", out, "--workers", "1") == 0
    return out


def rows(dataset: Path, config: str, split: str, task: str) -> list[dict[str, Any]]:
    return [row for row in load_dataset(str(dataset), config)[split] if row["task"] == task]


def test_every_query_has_the_whole_corpus_in_its_order(built: Path) -> None:
    for config, towns in (("loft_1k", 10), ("loft_2k", 12)):
        for row in rows(built, config, "test", "nq"):
            assert [passage["title"] for passage in row["passages"]] == [f"Town {n}" for n in range(towns)]
            assert row["context_id"] == f"nq-{config.removeprefix('loft_')}"
    first = rows(built, "loft_1k", "test", "nq")[0]
    assert (first["id"], first["query"], first["answers"]) == ("nq-test1", "who founded town 1?", ["settler1"])
    assert first["gold"] == [1]
    assert first["passages"][1]["pid"] == "doc1:0"
    assert [passage["role"] for passage in first["passages"][:3]] == ["confounder", "gold", "confounder"]


def test_dev_is_validation_and_few_shot_queries_are_train(built: Path) -> None:
    ids = {split: [row["id"] for row in rows(built, "loft_1k", split, "nq")] for split in ("validation", "train")}
    assert ids == {"validation": ["nq-dev0"], "train": ["nq-few_shot4"]}


def test_a_query_of_several_passages_and_answers(built: Path) -> None:
    [row] = rows(built, "loft_2k", "test", "quest")
    assert (row["kind"], row["gold"], row["answers"], row["hops"]) == ("set", [0, 5], ["Town 0", "Town 5"], 2)


def test_tokens_are_those_of_the_rendered_prompt(built: Path) -> None:
    [row] = rows(built, "loft_1k", "validation", "nq")
    passages = [(passage["title"], passage["text"]) for passage in row["passages"]]
    text = render(read_manifest(built).tasks["nq"], row["query"], passages).text
    assert row["n_tokens"] == token_counter("smollm2").count(text)


def test_contexts_have_a_length_and_no_budget(built: Path) -> None:
    facts = read_manifest(built).configs["loft_2k"]
    assert (facts.family, facts.length, facts.tokens, facts.ratio, facts.budget) == ("given", "2k", 2048, None, None)


def test_it_passes_its_validation(built: Path) -> None:
    assert icr2("validate", built) == 0


def test_a_model_is_evaluated_on_it(built: Path, tmp_path: Path) -> None:
    model = save_model(tmp_path / "model", positions=8192)
    what = ("--config", "loft_1k", "--method", "vanilla_rag", "--max-new-tokens", "4")
    assert icr2("eval", built, "--model", model, *what, "--out", tmp_path / "run") == 0
    assert {row.id for row in read_rows(tmp_path / "run")} == {"nq-test1", "nq-test2", "nq-test3", "quest-q0"}


def test_contexts_like_icr2_over_its_corpus(tmp_path: Path) -> None:
    """Queries and passages of LOFT, found and mixed by our own rules."""
    source = {"reader": "loft", "path": "rag/nq/2k/corpus.jsonl"}
    files = {"test": {"reader": "loft", "path": "rag/nq/2k/test_queries.jsonl"}}
    task = {"kind": "qa", "files": files, "take": {"test": {"source": "test", "n": 3}}}
    recipe = {"name": "mixed", "tokenizer": "smollm2", "knowledge": source, "tasks": {"nq": task}, "lengths": ["512"]}
    recipe |= {"retrievers": {"bm25": {"kind": "bm25s", "k": 3}}, "ratios": [0, 100]}
    path = write_loft(tmp_path) / "recipe.yaml"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    assert icr2("build", path, "--out", tmp_path / "out", "--workers", "1") == 0
    found = rows(tmp_path / "out", "512_p100", "test", "nq")
    assert {row["id"]: row["passages"][row["gold"][0]]["pid"] for row in found} == {
        f"nq-test{n}": f"doc{n}:0" for n in (1, 2, 3)
    }
    assert all({passage["role"] for passage in row["passages"]} == {"gold", "confounder"} for row in found)


def recipe_of(folder: Path, *settings: str) -> Any:
    return load_recipe("loft", [f"data={folder}", *settings])[0]


def test_tasks_and_lengths_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    shutil.rmtree(write_loft(tmp_path) / "rag" / "quest" / "2k")
    recipe = recipe_of(tmp_path)
    assert {name: [*task.files] for name, task in recipe.tasks.items()} == {"nq": ["1k", "2k"], "quest": ["1k"]}
    assert recipe.lengths == ["1k", "2k"]
    assert recipe_of(tmp_path, "lengths=[2k]").lengths == ["2k"]


def test_a_passage_that_contains_the_answer_is_flagged(tmp_path: Path) -> None:
    folder = write_loft(tmp_path)
    lines(folder / "rag/nq/1k/test_queries.jsonl", [query("a", "founded in?", ["1801", "settler2"], "doc1")])
    out = tmp_path / "out"
    assert (
        icr2("build", "loft", "--set", f"data={folder}", "--set", "lengths=[1k]", "--out", out, "--workers", "1") == 0
    )
    [row] = rows(out, "loft_1k", "test", "nq")
    assert row["flags"] == ["answer_in_given"]
    assert icr2("validate", out, "--only", "answer_in_context", "--only", "flags") == 0


def test_a_gold_passage_that_is_missing_is_counted(tmp_path: Path) -> None:
    folder = write_loft(tmp_path)
    lost = [query("a", "who founded town 1?", ["settler1"], "doc1"), query("b", "and what?", ["it"], "doc99")]
    lines(folder / "rag/nq/1k/test_queries.jsonl", lost)
    out = tmp_path / "out"
    assert (
        icr2("build", "loft", "--set", f"data={folder}", "--set", "lengths=[1k]", "--out", out, "--workers", "1") == 0
    )
    assert read_manifest(out).counts["rows"]["missing_page"] == 1
    assert len(rows(out, "loft_1k", "test", "nq")) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda folder: shutil.rmtree(folder / "rag"),
            r"no task of the recipe in .*rag, wanted files such as .*nq/32k/",
        ),
        (
            lambda folder: shutil.copytree(folder / "rag/nq", folder / "rag/webq"),
            r"webq is no task of the recipe; add --set tasks\.webq\.kind=qa",
        ),
        (
            lambda folder: (folder / "rag/quest/1k/test_queries.jsonl").unlink(),
            r"quest/1k has no queries, wanted test_queries\.jsonl or dev_queries\.jsonl",
        ),
    ],
)
def test_what_a_folder_lacks_is_one_line(change: Any, says: str, tmp_path: Path) -> None:
    change(write_loft(tmp_path))
    with pytest.raises(SetupError, match=says):
        recipe_of(tmp_path)
