from pathlib import Path
from typing import Any

import pytest
import yaml

from builders import prompts
from builders.config import ConfigSpec
from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.tasks import TaskSpec
from eval_harness.lm_eval import write
from eval_harness.lm_eval.hooks import VERSION
from eval_harness.lm_eval.write import Source, source_of, task_files, write_tasks
from eval_harness.methods.limits import LIMITS
from eval_harness.scoring import registry as scorers
from eval_harness.scoring.registry import SCORERS
from tests.eval_harness.lm_eval.conftest import write_dataset

NQ = TaskSpec("nq", "qa")
FEVER = TaskSpec("fever", "fact", {"SUPPORTS": "TRUE", "REFUTES": "FALSE"})
CONFIG = {"1k_p0": ConfigSpec("icr2", "1k")}
README = Path(write.__file__).with_name("README.md")


class _Loader(yaml.SafeLoader):
    """Reads the name of a function."""


_Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read(text: str) -> dict[str, Any]:
    return yaml.load(text, Loader=_Loader)


@pytest.fixture
def files(tiny: Path) -> dict[str, dict[str, Any]]:
    return {name: read(text) for name, text in task_files(source_of(read_manifest(tiny), "/data/tiny")).items()}


def test_a_version_stands_for_one_set_of_prompts_scorers_and_limits() -> None:
    """Where this fails, raise VERSION and say in eval_harness/lm_eval/README.md what changed."""
    assert (VERSION, prompts.VERSION, scorers.VERSION) == ("1.2", "2", "6")
    assert LIMITS.answers == {"qa": 64, "fact": 32, "dialogue": 128, "set": 64, "needle": 64}
    assert f"\n| {VERSION} | " in README.read_text()


def test_a_task_for_each_config_condition_and_task(files: dict[str, dict[str, Any]]) -> None:
    tasks = {file["task"]: file for name, file in files.items() if "group" not in file and not name.startswith("_")}
    assert len(tasks) == 4 * 3 * 4
    assert {f"{name}.yaml" for name in tasks} <= files.keys()
    subsets = {name: tasks[name]["dataset_kwargs"]["subset"] for name in tasks}
    assert subsets["tiny_1k_p75_nq"] == {"config": "1k_p75", "task": "nq", "method": "vanilla_rag"}
    assert subsets["tiny_1k_p75_closed_book_wow"] == {"config": "1k_p75", "task": "wow", "method": "closed_book"}
    assert subsets["tiny_loft_4k_oracle_fever"] == {"config": "loft_4k", "task": "fever", "method": "oracle_rag"}
    assert not [name for name in tasks if "train_only" in name]


def test_groups(files: dict[str, dict[str, Any]]) -> None:
    groups = {file["group"]: file["task"] for file in files.values() if "group" in file}
    assert groups["tiny_1k_p75"] == [f"tiny_1k_p75_{task}" for task in ("nq", "fever", "hotpotqa", "wow")]
    assert groups["tiny_1k"] == ["tiny_1k_p0", "tiny_1k_p75"]
    assert groups["tiny_1k_oracle"] == ["tiny_1k_p0_oracle", "tiny_1k_p75_oracle"]
    assert groups["tiny"] == ["tiny_1k", "tiny_4k"]
    assert groups["tiny_closed_book"] == ["tiny_1k_closed_book", "tiny_4k_closed_book"]
    assert groups["tiny_loft_4k"] == [f"tiny_loft_4k_{task}" for task in ("nq", "fever", "hotpotqa", "wow")]


def test_a_group_has_a_value_only_where_all_tasks_are_scored_alike() -> None:
    """and the group says which average it is"""
    mixed = read(task_files(Source("icr2", "d", None, CONFIG, (NQ, FEVER), "en"))["icr2_1k_p0.yaml"])
    assert "aggregate_metric_list" not in mixed
    alike = read(
        task_files(Source("icr2", "d", None, CONFIG, (NQ, TaskSpec("questions", "qa")), "en"))["icr2_1k_p0.yaml"]
    )
    assert alike["group_alias"] == "icr2_1k_p0 (macro)"
    assert [(one["metric"], one["weight_by_size"]) for one in alike["aggregate_metric_list"]] == [("subspan_em", False)]


def test_the_macro_average_is_of_the_headline_of_the_language() -> None:
    """Where the official score cannot work, the strict one."""
    thai = read(
        task_files(Source("icr2", "d", None, CONFIG, (NQ, TaskSpec("questions", "qa")), "th"))["icr2_1k_p0.yaml"]
    )
    assert [one["metric"] for one in thai["aggregate_metric_list"]] == ["subspan_em_strict"]


@pytest.mark.parametrize(
    ("task", "limit", "scorer"), [("nq", 64, "qa"), ("fever", 32, "label"), ("wow", 128, "dialogue")]
)
def test_a_kind_of_task_has_our_limit_and_metrics_and_no_stop_at_a_blank_line(
    files: dict[str, dict[str, Any]], task: str, limit: int, scorer: str
) -> None:
    settings = files[f"_{task}.yaml"]["generation_kwargs"]
    assert settings["max_gen_toks"] == limit
    assert settings["do_sample"] is False
    assert settings["until"] and not [stop for stop in settings["until"] if not stop.strip()]
    metrics = [entry["metric"] for entry in files[f"_{task}.yaml"]["metric_list"]]
    assert metrics == [*SCORERS[scorer].metrics, "unparsed"]


def test_a_repository_is_named_with_its_revision() -> None:
    base = read(task_files(Source("icr2", "me/icr2", "v1.0.0", CONFIG, (NQ,), "en"))["_base.yaml"])
    assert (base["metadata"]["dataset"], base["metadata"]["dataset_revision"]) == ("me/icr2", "v1.0.0")


def test_files_can_be_written_again_but_not_among_others(tiny: Path, tmp_path: Path) -> None:
    source = source_of(read_manifest(tiny), "x")
    out = tmp_path / "deep" / "out"
    assert write_tasks(source, out) == write_tasks(source, out) == len(list(out.iterdir()))
    (out / "other.yaml").write_text("task: other\n")
    with pytest.raises(SetupError, match=r"other task files, such as other\.yaml"):
        write_tasks(source, out)


def test_a_manifest_without_tasks_is_refused(tiny: Path) -> None:
    without = read_manifest(tiny).model_copy(update={"tasks": {}})
    with pytest.raises(SetupError, match="the manifest of x names no task"):
        source_of(without, "x")


def test_a_dataset_without_a_test_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="x has no config with the split 'test'"):
        source_of(read_manifest(write_dataset(tmp_path, configs=())), "x")


def test_names_carry_the_datasets_name_so_that_two_datasets_do_not_collide(tiny: Path) -> None:
    manifest = read_manifest(tiny)
    one, other = (task_files(source_of(manifest.model_copy(update={"name": name}), "x")) for name in ("one", "other"))
    assert not [name for name in one.keys() & other.keys() if not name.startswith("_")]


def test_names_and_metrics_follow_from_what_the_manifest_says_and_not_from_names() -> None:
    """A task called fever whose questions have sets of answers, in a config that is named like one with a ratio."""
    task = TaskSpec("fever", "set")
    files = task_files(
        Source("icr2", "d", None, {"1k_p0": ConfigSpec("given"), "mine": ConfigSpec("icr2", "2k")}, (task,), "en")
    )
    assert files.keys() >= {"icr2_1k_p0_fever.yaml", "icr2_mine_fever.yaml", "icr2_2k.yaml"}
    assert read(files["icr2_2k.yaml"])["task"] == ["icr2_mine"]
    settings = read(files["_fever.yaml"])
    assert settings["generation_kwargs"]["max_gen_toks"] == 64
    assert "answer_f1" in [entry["metric"] for entry in settings["metric_list"]]
