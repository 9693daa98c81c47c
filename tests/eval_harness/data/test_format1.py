"""A dataset of format 1, and a run of it, are read as those of format 2."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.schema import INSTANCES_1
from eval_harness.data.dataset import Instance, load_instances, open_dataset
from eval_harness.models.fake import FakeModel
from eval_harness.report.study import one_study, read_studies
from eval_harness.run.results import read_rows
from tests.eval_harness.conftest import FEVER, NQ, WOW
from tests.eval_harness.running import plan_of, reader, results_of
from tests.eval_harness.specs import SPECS
from tests.manifests import write_manifest

CONTROLLED = NQ | {"id": "nq-1-d050", "flags": ["depth_50", "short_pool"], "hops": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for config, rows in {"1k_p75": [NQ, FEVER, WOW], "controlled_1k": [CONTROLLED]}.items():
        (tmp_path / "old" / config).mkdir(parents=True)
        plain = [{name: row[name] for name in INSTANCES_1.names} for row in rows]
        file = tmp_path / "old" / config / "test-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(plain, INSTANCES_1), file)
    write_manifest(tmp_path / "old", "old", recipe={"tasks": {"nq": {}, "fever": {}, "wow": {}}})
    return tmp_path / "old"


def instances(folder: Path, config: str) -> list[Instance]:
    return load_instances(open_dataset(folder), config, "test")


def test_tasks_are_those_that_their_names_stood_for(folder: Path) -> None:
    assert [one.spec for one in instances(folder, "1k_p75")] == [SPECS["nq"], SPECS["fever"], SPECS["wow"]]
    assert [one.question_id for one in instances(folder, "1k_p75")] == ["nq-1", "fever-1", "wow-1"]


def test_depth_and_question_come_out_of_flag_and_id(folder: Path) -> None:
    (found,) = instances(folder, "controlled_1k")
    assert (found.question_id, found.depth, found.flags) == ("nq-1", 50, ["short_pool"])
    assert (found.config, found.hops) == ("controlled_1k", 1)


def test_it_is_evaluated_and_its_record_says_what_it_is(folder: Path, tmp_path: Path) -> None:
    plan = plan_of(folder, configs=("1k_p75", "controlled_1k"), methods=("vanilla_rag",))
    rows = results_of(plan, FakeModel(reader), tmp_path / "run")
    row = rows["nq-1-d050", "controlled_1k", "vanilla_rag"]
    assert (row.kind, row.scorer, row.question_id, row.depth, row.answer) == ("qa", "qa", "nq-1", 50, "Jane Austen")
    assert rows["fever-1", "1k_p75", "vanilla_rag"].scores["label_accuracy"] == 1
    said = json.loads((tmp_path / "run" / "run.json").read_text())
    assert said["configs"]["1k_p75"] == {
        "family": "icr2", "length": "1k", "tokens": 1024, "ratio": 75, "depth": None, "budget": 768, "passages": None
    }  # fmt: skip
    assert said["tasks"]["fever"] == {
        "kind": "fact", "labels": {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}, "scorer": "label"
    }  # fmt: skip


def test_results_of_an_earlier_version_join_those_of_this_one(folder: Path, tmp_path: Path) -> None:
    """An earlier run named configs and tasks alone, and its results said nothing of kinds and questions."""
    for name, config in (("then", "1k_p75"), ("now", "controlled_1k")):
        results_of(plan_of(folder, configs=(config,), methods=("vanilla_rag",)), FakeModel(reader), tmp_path / name)
    record = json.loads((tmp_path / "then" / "run.json").read_text())
    limits = {kind: record["max_new_tokens"][kind] for kind in ("qa", "fact", "dialogue")}
    del record["format"]
    record |= {"configs": ["1k_p75"], "tasks": [], "max_new_tokens": limits}
    (tmp_path / "then" / "run.json").write_text(json.dumps(record))
    lines = [json.loads(line) for line in (tmp_path / "then" / "results.jsonl").read_text().splitlines()]
    new = ("kind", "scorer", "question_id", "depth")
    plain = [{name: value for name, value in line.items() if name not in new} for line in lines]
    (tmp_path / "then" / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in plain))
    assert [(row.kind, row.scorer) for row in read_rows(tmp_path / "then")] == [
        ("qa", "qa"), ("fact", "label"), ("dialogue", "dialogue")
    ]  # fmt: skip
    study = one_study(read_studies([tmp_path / "then", tmp_path / "now"]))
    assert (list(study.rows), study.configs) == (["fake"], ["1k_p75", "controlled_1k"])
