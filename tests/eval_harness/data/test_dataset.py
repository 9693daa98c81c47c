from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.errors import SetupError
from eval_harness.data.dataset import check_parts, load_instances, open_dataset
from tests.eval_harness.conftest import FEVER, NQ, NQ_2, ROWS, write_config
from tests.eval_harness.specs import SPECS
from tests.manifests import write_manifest_2


def test_a_dataset_is_known_by_name_version_and_manifest(dataset_folder: Path) -> None:
    dataset = open_dataset(dataset_folder)
    assert (dataset.name, dataset.version) == ("tiny", "1.0.0")
    assert dataset.manifest_sha256 == sha256((dataset_folder / "manifest.json").read_bytes()).hexdigest()


def test_instances_come_in_file_order_with_their_passages(dataset_folder: Path) -> None:
    found = load_instances(open_dataset(dataset_folder), "1k_p0", "test")
    assert [instance.id for instance in found] == ["nq-1", "fever-1", "nq-2", "wow-1"]
    assert found[0].gold == [1]
    assert found[0].passages[1] == ("1:0", "Title 1", "Emma is by Jane Austen.", "gold")


def test_limit_counts_each_task(dataset_folder: Path) -> None:
    found = load_instances(open_dataset(dataset_folder), "1k_p0", "test", limit=1)
    assert [instance.id for instance in found] == ["nq-1", "fever-1", "wow-1"]


def test_only_the_asked_tasks(dataset_folder: Path) -> None:
    found = load_instances(open_dataset(dataset_folder), "1k_p0", "test", tasks=["nq"])
    assert [instance.id for instance in found] == ["nq-1", "nq-2"]


def test_files_of_a_split_are_joined_in_order(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset(c4k_p0=[])
    (folder / "4k_p0" / "test-00000-of-00001.parquet").unlink()
    write_config(folder, "4k_p0", [NQ_2], "test-00001-of-00002.parquet")
    write_config(folder, "4k_p0", [NQ], "test-00000-of-00002.parquet")
    write_manifest_2(folder)
    assert [found.id for found in load_instances(open_dataset(folder), "4k_p0", "test")] == ["nq-1", "nq-2"]
    (folder / "4k_p0" / "test-00000-of-00002.parquet").unlink()
    with pytest.raises(SetupError, match="1 of the 2 files of 4k_p0/test"):
        check_parts(open_dataset(folder), ["4k_p0"], "test")


def test_a_file_that_the_manifest_does_not_list_is_left_alone(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset(c1k_p0=[NQ])
    write_config(folder, "1k_p0", [FEVER], "test-00001-of-00002.parquet")
    assert [found.id for found in load_instances(open_dataset(folder), "1k_p0", "test")] == ["nq-1"]


def test_what_is_missing_is_named_with_what_there_is(dataset_folder: Path, tmp_path: Path) -> None:
    dataset = open_dataset(dataset_folder)
    with pytest.raises(SetupError, match=r"no manifest\.json"):
        open_dataset(tmp_path)
    with pytest.raises(SetupError, match="no config '2k_p0' in tiny; there are 1k_p0, 1k_p75"):
        check_parts(dataset, ["1k_p0", "2k_p0"], "test")
    with pytest.raises(SetupError, match="no split 'train'; available: test"):
        check_parts(dataset, ["1k_p0"], "train")
    with pytest.raises(SetupError, match="no task musique; available: fever, nq, wow"):
        load_instances(dataset, "1k_p0", "test", tasks=["nq", "musique"])


def test_a_broken_manifest_or_file_is_an_error(dataset_folder: Path) -> None:
    dataset = open_dataset(dataset_folder)
    (dataset_folder / "1k_p0" / "test-00000-of-00001.parquet").write_bytes(b"no parquet")
    with pytest.raises(SetupError, match="not a readable Parquet"):
        load_instances(dataset, "1k_p0", "test")
    (dataset_folder / "manifest.json").write_text('["no", "manifest"]')
    with pytest.raises(SetupError, match="found list, wanted an object"):
        open_dataset(dataset_folder)


def test_a_missing_column_a_second_id_and_an_empty_split_are_errors(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset(c1k_p0=[NQ, NQ], c1k_p25=[], c1k_p50=ROWS)
    dataset = open_dataset(folder)
    with pytest.raises(SetupError, match="'nq-1' twice"):
        load_instances(dataset, "1k_p0", "test")
    with pytest.raises(SetupError, match="no rows"):
        load_instances(dataset, "1k_p25", "test")
    pq.write_table(pa.table({"id": ["a"], "task": ["nq"]}), folder / "1k_p50" / "test-00000-of-00001.parquet")
    with pytest.raises(
        SetupError,
        match="lacks the columns answers, config, context_id, depth, flags, gold, hops, passages, query, ",
    ):
        load_instances(dataset, "1k_p50", "test")


def test_broken_files_are_found_before_a_run_and_while_it_reads(dataset_folder: Path) -> None:
    dataset = open_dataset(dataset_folder)
    file = dataset_folder / "1k_p0" / "test-00000-of-00001.parquet"
    content = bytearray(file.read_bytes())
    content[4:1000] = bytes(996)  # the footer stays
    file.write_bytes(content)
    with pytest.raises(SetupError, match=r"not a readable Parquet file: .*; check it with: icr2 validate"):
        load_instances(dataset, "1k_p0", "test")
    file.write_bytes(b"no parquet")
    with pytest.raises(SetupError, match="not a readable Parquet"):
        check_parts(dataset, ["1k_p0"], "test")


def test_a_row_says_what_it_is(make_dataset: Callable[..., Path]) -> None:
    row = NQ | {"id": "nq-1-d050", "hops": 2, "reasoning_types": ["bridge"], "flags": ["depth_50", "short_pool"]}
    (found,) = load_instances(open_dataset(make_dataset(ccontrolled_1k=[row])), "controlled_1k", "test")
    assert (found.spec, found.task, found.config) == (SPECS["nq"], "nq", "controlled_1k")
    assert (found.question_id, found.depth, found.hops) == ("nq-1", 50, 2)
    assert (found.reasoning_types, found.flags) == (["bridge"], ["short_pool"])


def test_a_task_that_the_manifest_does_not_describe_is_an_error(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset(c1k_p0=[NQ])
    write_config(folder, "1k_p0", [FEVER])
    with pytest.raises(SetupError, match="no task 'fever' in tiny; there are nq"):
        load_instances(open_dataset(folder), "1k_p0", "test")
