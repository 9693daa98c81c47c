"""The typed reader of manifests: what it reads of both formats, and what it refuses in one line."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders import format1
from builders.errors import SetupError
from builders.manifest import read_manifest
from builders.schema import INSTANCES, INSTANCES_1
from builders.tasks import TaskSpec
from builders.views import connect

FORMAT_1 = Path(__file__).parents[1] / "fixtures" / "format1"
FILE = {"path": "4k_p50/test-00000-of-00001.parquet", "rows": 3, "bytes": 9, "sha256": "0" * 64}
LABELS = {"SUPPORTED": "yes", "NOT_SUPPORTED": "no"}

Values = dict[str, Any]


def manifest(**changes: Any) -> Values:
    config = {"family": "icr2", "length": "4k", "tokens": 4096, "ratio": 50, "depth": None, "budget": 3840}
    tasks = {"hover": {"kind": "fact", "labels": LABELS, "scorer": "label", "source": "hover"}}
    known = {"format": "icr2-manifest/2", "name": "mine", "version": "1.0.0", "language": "en", "tasks": tasks}
    return {**known, "configs": {"4k_p50": {**config, "files": {"test": [FILE]}}}, **changes}


def write(folder: Path, values: object) -> Path:
    (folder / "manifest.json").write_text(json.dumps(values), encoding="utf-8")
    return folder


def test_what_is_read(tmp_path: Path) -> None:
    found = read_manifest(write(tmp_path, manifest()))
    assert (found.name, found.version, found.language) == ("mine", "1.0.0", "en")
    assert found.tasks == {"hover": TaskSpec("hover", "fact", LABELS, "label", "hover")}
    config = found.config("4k_p50")
    assert (config.family, config.length, config.tokens, config.ratio, config.budget) == ("icr2", "4k", 4096, 50, 3840)
    assert not config.synthetic and config.rows == 3
    assert found.path_of(tmp_path, config.files["test"][0]) == tmp_path / FILE["path"]
    assert found.sha256 == sha256((tmp_path / "manifest.json").read_bytes()).hexdigest()
    assert found.schema is INSTANCES


INJECTED = """x" AS SELECT 1 AS id; COPY (SELECT 'a') TO '/some/file'; --"""


def with_path(path: str) -> Callable[[Values], None]:
    return lambda values: values["configs"]["4k_p50"]["files"]["test"][0].update(path=path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda values: values.update(format="icr2-manifest/3"), "format: found 'icr2-manifest/3', wanted icr2-mani"),
        (lambda values: values.pop("tasks"), "tasks: found nothing, wanted a value"),
        (lambda values: values.update(more=1), "more: unknown field; remove it"),
        (lambda values: values.update(version=1.0), "version: found 1.0, wanted a valid string"),
        (lambda values: values["tasks"]["hover"].update(kind="claim"), "tasks.hover.kind: found 'claim', wanted 'qa',"),
        (lambda values: values["tasks"]["hover"].update(labels={}), "tasks.hover.labels: found {}, wanted its labels"),
        (
            lambda values: values["tasks"].update({"a/b": values["tasks"]["hover"]}),
            "tasks.a/b: found 'a/b', wanted lower-case letters, digits and _",
        ),
        (
            lambda values: values["configs"].update({"../x": values["configs"]["4k_p50"]}),
            "found '../x', wanted lower-case letters, digits and _",
        ),
        (
            lambda values: values["configs"].update({INJECTED: values["configs"]["4k_p50"]}),
            "wanted lower-case letters, digits and _; build",
        ),
        (lambda values: values["configs"]["4k_p50"].update(ratio=101), "configs.4k_p50.ratio: found 101, wanted less"),
        (with_path("../x.parquet"), "files.test.0.path: found '../x.parquet', wanted a relative path that never leads"),
        (with_path("/etc/passwd"), "found '/etc/passwd', wanted a relative path"),
        (with_path("4k_p50/../../x"), "found '4k_p50/../../x', wanted a relative path"),
        (with_path(""), "found '', wanted a relative path"),
    ],
)
def test_what_is_refused_in_one_line(change: Callable[[Values], object], says: str, tmp_path: Path) -> None:
    values = json.loads(json.dumps(manifest()))
    change(values)
    with pytest.raises(SetupError) as refused:
        read_manifest(write(tmp_path, values))
    told = str(refused.value)
    assert told.startswith(f"{tmp_path / 'manifest.json'}: ") and told.endswith("; build the dataset again")
    assert says in told and "\n" not in told


def test_a_folder_without_a_manifest_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"it has no manifest\.json; run: icr2 build"):
        read_manifest(tmp_path)
    write(tmp_path, ["no", "manifest"])
    with pytest.raises(SetupError, match="found list, wanted an object"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(SetupError, match="is not JSON"):
        read_manifest(tmp_path)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "4k_p50").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / FILE["path"]).symlink_to(tmp_path / "secret")
    found = read_manifest(write(folder, manifest()))
    with pytest.raises(SetupError, match="is a link to"):
        found.path_of(folder, found.configs["4k_p50"].files["test"][0])


def test_links_of_the_hubs_cache_are_followed(tmp_path: Path) -> None:
    folder = tmp_path / "datasets--me--mine" / "snapshots" / "abc"
    (folder / "4k_p50").mkdir(parents=True)
    (tmp_path / "datasets--me--mine" / "blobs").mkdir()
    blob = tmp_path / "datasets--me--mine" / "blobs" / "0123"
    blob.write_text("rows")
    (folder / FILE["path"]).symlink_to(blob)
    found = read_manifest(write(folder, manifest()))
    assert found.path_of(folder, found.configs["4k_p50"].files["test"][0]).read_text() == "rows"


def test_facts_of_format_1_are_read_off_names() -> None:
    found = read_manifest(FORMAT_1 / "icr2")
    assert [(task.name, task.kind) for task in found.tasks.values()] == [
        ("fever", "fact"),
        ("hotpotqa", "qa"),
        ("nq", "qa"),
    ]
    assert found.tasks["fever"].labels == {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}
    facts = {name: tuple(config)[:-1] for name, config in found.configs.items()}
    assert {name: [value for _, value in fact] for name, fact in facts.items()} == {
        "1k_p0": ["icr2", "1k", 1024, 0, None, 768, None],
        "1k_p50": ["icr2", "1k", 1024, 50, None, 768, None],
        "loft_1k": ["loft", "1k", 1024, None, None, 768, None],
    }
    assert found.schema is INSTANCES_1
    needles = read_manifest(FORMAT_1 / "needles")
    assert {task.kind for task in needles.tasks.values()} == {"needle"} and len(needles.tasks) == 10
    assert tuple(needles.configs) == ("needles_128",) and needles.configs["needles_128"].budget == 128


@pytest.mark.parametrize("name", ["icr2", "controlled", "needles"])
def test_rows_of_format_1_are_upgraded_alike_in_python_and_in_sql(name: str) -> None:
    found = read_manifest(FORMAT_1 / name)
    connection = connect(FORMAT_1 / name)
    for config, about in found.configs.items():
        result = connection.execute(f'SELECT * EXCLUDE split FROM "{config}" ORDER BY id')
        names = [column[0] for column in result.description]
        assert names == INSTANCES.names
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        written = pq.read_table(found.path_of(FORMAT_1 / name, about.files["test"][0])).to_pylist()
        upgraded = [format1.row_of(row, config, about.family, found.tasks[row["task"]]) for row in written]
        assert rows == sorted(upgraded, key=lambda row: str(row["id"]))


def test_questions_and_depths_of_format_1() -> None:
    rows = connect(FORMAT_1 / "controlled").execute(
        "SELECT id, question_id, depth, flags FROM all_configs WHERE id LIKE 'controlled_1hop-test-0000%' ORDER BY id"
    )
    question = "controlled_1hop-test-0000"
    assert rows.fetchall() == [(f"{question}-d000", question, 0, []), (f"{question}-d060", question, 60, [])]
    rows = connect(FORMAT_1 / "needles").execute(
        "SELECT id, question_id, depth, reasoning_types, len(gold), flags FROM all_configs "
        "WHERE id LIKE 'animal-dog-control-1' OR id LIKE 'animal-dog-literal-default-100' ORDER BY id"
    )
    assert rows.fetchall() == [
        ("animal-dog-control-1", "animal-dog", None, [], 0, []),
        ("animal-dog-literal-default-100", "animal-dog", 100, ["literal", "default"], 1, []),
    ]
