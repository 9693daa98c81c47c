"""The whole build on a tiny KILT: required fields of every row, and bytes that depend only on the inputs."""

import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from builders.engine import make_shard
from builders.errors import SetupError
from builders.format1 import spec_of
from builders.load_recipe import load_recipe
from builders.pipeline import STAGES, _run_stages, prepare, run_build
from builders.prompts import render
from builders.retrieve.base import Context
from builders.retrieve.tfidf import TfIdf
from builders.schema import INSTANCES
from builders.text import contains
from builders.work import Build, Shard
from tests.builders.tiny import write_tiny_kilt


def build(recipe: Path, out: Path, workers: int = 1, settings: tuple[str, ...] = ()) -> Build:
    loaded, base = load_recipe(str(recipe), list(settings))
    return run_build(loaded, base, out, out.with_name(out.name + ".work"), workers, Console(quiet=True))


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    build(write_tiny_kilt(folder / "kilt"), folder / "out")
    return folder


def rows(folder: Path, config: str, split: str = "test") -> list[dict]:
    return pq.read_table(folder / "out" / config / f"{split}-00000-of-00001.parquet").to_pylist()


CONFIGS = [f"{length}_p{ratio}" for length in ("1k", "2k") for ratio in (0, 50, 75, 100)]
BUDGET = {"1k": 768, "2k": 1792}


@pytest.mark.parametrize("config", [*CONFIGS, "loft_2k"])
def test_one_schema_and_the_right_number_of_rows(tiny: Path, config: str) -> None:
    """The written type is the same in every file, and lists of structs come back as they went."""
    for split, n in (("test", 18), ("validation", 12), ("train", 12)):
        table = pq.read_table(tiny / "out" / config / f"{split}-00000-of-00001.parquet")
        assert table.schema.equals(INSTANCES)
        assert table.num_rows == n
        assert table.to_pylist()[0]["passages"][1]["title"].startswith("Place")


@pytest.mark.parametrize("config", CONFIGS)
def test_every_row_holds_what_it_says(tiny: Path, config: str, tokenizer: Any) -> None:
    length, percent = config.split("_p")
    for row in rows(tiny, config):
        passages, n = row["passages"], len(row["passages"]) - len(row["gold"])
        assert len({p["pid"] for p in passages}) == len(passages)
        assert [at for at, p in enumerate(passages) if p["role"] == "gold"] == row["gold"]
        assert len(row["gold"]) == (2 if row["task"] == "hotpotqa" else 1)
        confounders = [p for p in passages if p["role"] == "confounder"]
        assert row["confounding_ratio"] == len(confounders) / n
        assert abs(row["confounding_ratio"] - int(percent) / 100) <= 1 / n
        if percent in ("0", "100"):  # no retrieved passage, no random one
            assert {p["role"] for p in passages} == {"gold", "random" if percent == "0" else "confounder"}
        assert all(p["retrievers"] and p["rank"] and p["score"] is not None for p in confounders)
        prompt = render(spec_of(row["task"]), row["query"], [(p["title"], p["text"]) for p in passages]).text
        assert row["n_tokens"] == len(tokenizer(prompt)["input_ids"]) <= BUDGET[length]
        if "underfull" not in row["flags"]:
            assert row["n_tokens"] >= (0.75 if length == "1k" else 0.9) * BUDGET[length]


KINDS = {"nq": ("qa", "text"), "hotpotqa": ("qa", "text"), "fever": ("fact", "label")}


@pytest.mark.parametrize("config", [*CONFIGS, "loft_2k"])
def test_a_row_says_what_it_is(tiny: Path, config: str) -> None:
    """Also after rows of all configs are put together."""
    for row in rows(tiny, config):
        assert (row["config"], row["question_id"], row["depth"]) == (config, row["id"], None)
        assert (row["kind"], row["answer_kind"]) == KINDS[row["task"]]


def test_the_manifest_says_what_tasks_and_configs_are(tiny: Path) -> None:
    manifest = json.loads((tiny / "out" / "manifest.json").read_text())
    assert manifest["format"] == "icr2-manifest/2"
    gold = {name: task["gold"] for name, task in manifest["recipe"]["tasks"].items()}
    assert gold == {"nq": "best", "hotpotqa": "all", "fever": "best"}  # questions of KILT have one hop
    assert manifest["tasks"] == {
        "nq": {"kind": "qa", "labels": {}, "scorer": "qa", "source": "nq"},
        "hotpotqa": {"kind": "qa", "labels": {}, "scorer": "qa", "source": "hotpotqa"},
        "fever": {
            "kind": "fact",
            "labels": {"SUPPORTS": "TRUE", "REFUTES": "FALSE"},
            "scorer": "label",
            "source": "fever",
        },
    }
    about = {name: {**config, "files": list(config["files"])} for name, config in manifest["configs"].items()}
    assert list(about) == [*CONFIGS, "loft_2k"]
    splits = ["test", "validation", "train"]
    shared = {"depth": None, "files": splits}
    assert about["1k_p75"] == {
        "family": "icr2", "length": "1k", "tokens": 1024, "ratio": 75, "budget": 768, "passages": None, **shared
    }  # fmt: skip
    assert about["loft_2k"] == {
        "family": "loft", "length": "2k", "tokens": 2048, "ratio": None, "budget": 1792, "passages": None, **shared
    }  # fmt: skip


@pytest.mark.parametrize("config", [*CONFIGS, "loft_2k"])
def test_no_answer_outside_gold_and_no_touch_of_a_provenance(tiny: Path, config: str) -> None:
    for row in rows(tiny, config):
        gold_pages = {row["passages"][at]["pid"].split(":")[0] for at in row["gold"]}
        number = int(row["query"].split()[-1].rstrip("?"))
        assert gold_pages == {str(number), str(number + 100)} if row["task"] == "hotpotqa" else {str(number)}
        for passage in row["passages"]:
            if passage["role"] != "gold" and row["task"] != "fever":
                assert not any(contains(answer, passage["text"]) for answer in row["answers"])


def test_shorter_is_a_subset_in_order_and_gold_is_the_same(tiny: Path) -> None:
    for ratio in (0, 50, 75, 100):
        for short, long in zip(rows(tiny, f"1k_p{ratio}"), rows(tiny, f"2k_p{ratio}"), strict=True):
            assert short["id"] == long["id"]
            pids = [p["pid"] for p in short["passages"]]
            assert pids == [p["pid"] for p in long["passages"] if p["pid"] in set(pids)]
            assert _gold(short) == _gold(long)
    for zero, full in zip(rows(tiny, "2k_p0"), rows(tiny, "2k_p100"), strict=True):
        assert _gold(zero) == _gold(full)


def _gold(row: dict) -> list[str]:
    return [row["passages"][at]["pid"] for at in row["gold"]]


def test_a_group_shares_its_context(tiny: Path) -> None:
    groups: dict[str, list[dict]] = {}
    for row in rows(tiny, "loft_2k"):
        groups.setdefault(row["context_id"], []).append(row)
    assert len(groups) < 18 / 2
    for group in groups.values():
        assert len({tuple(p["pid"] for p in row["passages"]) for row in group}) == 1
        assert len({tuple(row["gold"]) for row in group}) == len(group)
        assert all(row["confounding_ratio"] == 0 for row in group)
        gold = {p["pid"]: p for row in group for at in row["gold"] for p in (row["passages"][at],)}
        words = sum(len(p["text"].split()) for p in gold.values())
        assert words <= 0.6 * 1792  # no token is longer than a word


def test_no_query_in_two_splits(tiny: Path) -> None:
    queries = [row["query"] for split in ("test", "validation", "train") for row in rows(tiny, "1k_p0", split)]
    assert len(set(queries)) == len(queries) == 42


def test_neither_workers_nor_the_order_of_questions_changes_a_byte(tiny: Path, tmp_path: Path) -> None:
    build(write_tiny_kilt(tmp_path / "kilt", shuffled=True), tmp_path / "out", workers=2)
    ours, other = digests(tiny / "out"), digests(tmp_path / "out")
    changed = {name for name in ours if ours[name] != other[name]}
    assert set(ours) == set(other)
    assert changed == {"manifest.json"}  # it names the inputs' digests, and a shuffled file has another


def test_a_rebuild_has_the_same_bytes_and_makes_nothing_again(tiny: Path, tmp_path: Path) -> None:
    before = digests(tiny / "out")
    started = time.time()
    build(tiny / "kilt" / "recipe.yaml", tiny / "out")
    assert digests(tiny / "out") == before
    assert not [p for p in (tiny / "out.work" / "stages").rglob("*.arrow") if p.stat().st_mtime > started]


def test_a_folder_that_is_no_dataset_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    recipe = write_tiny_kilt(tmp_path / "kilt")
    with pytest.raises(SetupError, match="kilt exists and is not a dataset"):
        build(recipe, tmp_path / "kilt")
    assert [path.name for path in tmp_path.iterdir()] == ["kilt"]


def test_a_file_edited_at_equal_size_and_time_is_another_input(tmp_path: Path) -> None:
    """The questions that are read are those whose digest the manifest has, also in a work folder that knew others."""
    recipe = write_tiny_kilt(tmp_path / "kilt")
    loaded, base = load_recipe(str(recipe), [])
    before = prepare(loaded, base, tmp_path / "work")
    path = tmp_path / "kilt" / "nq.jsonl"
    stat, text = path.stat(), path.read_text()
    path.write_text(text.replace("nq number 3?", "nq number 4?"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    after = prepare(loaded, base, tmp_path / "work")
    assert after.inputs["tasks.nq.all"].sha256 == sha256(path.read_bytes()).hexdigest()
    assert before.digests["questions"] != after.digests["questions"]
    assert before.digests["pages"] == after.digests["pages"]
    stage = next(stage for stage in STAGES if stage.name == "questions")
    with pytest.raises(SetupError, match=r"nq\.jsonl changed while it was read"):  # before its shard is put in place
        make_shard(stage._replace(make=lambda *_: {}), before, Shard("nq", "nq"), lambda *_: None)
    assert not [*(tmp_path / "work").rglob("nq*")]


def test_a_changed_recipe_redoes_what_depends_on_it(tiny: Path) -> None:
    made = {path.name.split("-")[0] for path in (tiny / "out.work" / "stages").iterdir()}
    build(tiny / "kilt" / "recipe.yaml", tiny / "out2", settings=("lengths=[1k]", "loft=[]"))
    before = _stage_folders(tiny / "out.work")
    again = _stage_folders(tiny / "out2.work")
    assert made == set(again)
    assert {name for name in made if before[name] == again[name]} == {
        "pages", "chunk", "index", "questions", "gold", "search_index", "retrieve", "pool",
    }  # fmt: skip


def test_another_k_of_one_retriever_redoes_that_run_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No index depends on a k, and no run on the settings of another retriever."""
    recipe = write_tiny_kilt(tmp_path / "kilt")
    settings = ["runs=null", "retrievers={few: {kind: tfidf, k: 1}, more: {kind: tfidf, k: 3}}", "limit=1"]
    done: list[str] = []
    for what in ("index", "search"):
        real = getattr(TfIdf, what)

        def watched(self: TfIdf, context: Context, *given: Any, real: Any = real, what: str = what) -> Any:
            done.append(f"{what} {context.spec.k}")
            return real(self, context, *given)

        monkeypatch.setattr(TfIdf, what, watched)

    def retrieved(*more: str) -> dict[str, bytes]:
        loaded, base = load_recipe(str(recipe), [*settings, *more])
        made = prepare(loaded, base, tmp_path / "work")
        _run_stages(STAGES[:7], made, 1, Console(quiet=True))
        return {path.name: path.read_bytes() for path in made.paths("retrieve")}

    first = retrieved()
    assert done == ["index 1", "search 1", "search 3"]  # and both have one index
    done.clear()
    second = retrieved("retrievers.more.k=4")
    assert done == ["search 4"]
    assert first["few.parquet"] == second["few.parquet"]
    done.clear()
    retrieved("retrievers.more.k=4", "chunk_words=50")
    assert done == ["index 1", "search 1", "search 4"]
    done.clear()
    retrieved("limit=2")
    assert done == ["search 1", "search 3"]  # other questions


def _stage_folders(work: Path) -> dict[str, str]:
    return {path.name.split("-")[0]: path.name for path in (work / "stages").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["chunk", "filter"])
def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(tiny: Path, tmp_path: Path, stage: str) -> None:
    """Killed with its workers as soon as the folder of a stage is there, whatever is done in it by then."""
    recipe = write_tiny_kilt(tmp_path / "kilt")
    command = [sys.executable, "-m", "icr2_cli", "build", str(recipe), "--out", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while process.poll() is None and not [*tmp_path.glob(f"out.work/stages/{stage}-*")]:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    build(recipe, tmp_path / "out")
    assert digests(tmp_path / "out") == digests(tiny / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kilt", "out", "out.work"]
