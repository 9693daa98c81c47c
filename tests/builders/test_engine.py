import json
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from builders.engine import Pool, Stage, Tick, run_stage
from builders.files import replacing, write_json
from builders.work import Build, Counts, Shard, mark_of

MADE: list[str] = []


def plan(build: Build) -> list[Shard]:
    return [Shard("a"), Shard("b", "nq", "test", part=3), Shard("c", config="4k_p0")]


def make(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    MADE.append(shard.name)
    out.write_text(f"{shard.name} of {build.digests['one'][:1]}")
    return {"letters": 1}


def fail_at_b(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    out.write_text("half")
    if shard.name == "b":
        raise RuntimeError("stopped")
    return {"letters": 1}


def stage(run: Any = make, alone: bool = False) -> Stage:
    return Stage("one", "one", 1, (), (), plan, run, alone)


def build(tmp_path: Path, digest: str = "d" * 64) -> Build:
    return Build(None, tmp_path, tmp_path / "work", {"one": digest})  # type: ignore[arg-type]


def run(tmp_path: Path, digest: str = "d" * 64, run: Any = make, workers: int = 1, alone: bool = False) -> Build:
    MADE.clear()
    here = build(tmp_path, digest)
    pool = Pool(workers)
    try:
        run_stage(stage(run, alone), here, pool, Progress(disable=True))
    finally:
        pool.close()
    return here


@pytest.mark.parametrize(("workers", "alone"), [(1, False), (2, False), (2, True)])
def test_all_shards_are_made_and_counted(tmp_path: Path, workers: int, alone: bool) -> None:
    here = run(tmp_path, workers=workers, alone=alone)
    assert here.shards("one") == plan(here)
    assert [path.name for path in here.paths("one")] == ["a", "b", "c"]
    assert here.counts("one") == {"letters": 3}
    assert here.path("one", "b").read_text() == "b of d"
    assert not [path for path in here.folder("one").iterdir() if path.name.startswith(".")]


def test_a_folder_of_an_earlier_version_has_shards_with_names_alone(tmp_path: Path) -> None:
    here = run(tmp_path)
    write_json(here.folder("one") / "done.json", {"shards": ["a", "b"]})
    assert here.shards("one") == [Shard("a"), Shard("b")]


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path)
    assert MADE == []


def test_another_digest_has_another_folder(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, "e" * 64).path("one", "a").read_text() == "a of e"


def test_a_stage_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="stopped"):
        run(tmp_path, run=fail_at_b)
    here = build(tmp_path)
    assert not (here.folder("one") / "b").exists()
    assert not (here.folder("one") / "done.json").exists()
    run(tmp_path)
    assert MADE == ["b", "c"]


def test_a_file_without_its_mark_is_made_again(tmp_path: Path) -> None:
    """A kill between the two renames leaves the file alone: it may be of an older code."""
    here = run(tmp_path)
    mark_of(here.path("one", "b")).unlink()
    (here.folder("one") / "done.json").unlink()
    run(tmp_path)
    assert MADE == ["b"]


def test_replacing_leaves_nothing_half_written(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("old")
    with pytest.raises(KeyError), replacing(target) as partial:
        partial.write_text("half")
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert target.read_text() == "old"


def test_replacing_a_folder(tmp_path: Path) -> None:
    for content in ("one", "two"):
        with replacing(tmp_path / "folder") as partial:
            partial.mkdir()
            (partial / content).touch()
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["two"]


def test_json_is_the_same_whatever_the_order_of_keys(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": 1, "a": "é"})
    write_json(tmp_path / "b.json", {"a": "é", "b": 1})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": "é", "b": 1}
