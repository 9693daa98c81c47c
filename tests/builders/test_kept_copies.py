"""What the work folder remembers of passages that are near copies of a kept one."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from rich.console import Console

from builders.files import read_table
from builders.load_recipe import load_recipe
from builders.pipeline import STAGES, _run_stages, prepare
from tests.builders.tiny import write_lines, write_tiny_kilt


def test_a_kept_passage_remembers_the_pids_and_retrievers_of_its_near_copies(tmp_path: Path) -> None:
    """Pages 200 to 202 say nearly the same; each is found by another retriever, 202 by both."""
    folder = tmp_path / "kilt"
    recipe = write_tiny_kilt(folder)
    pages = [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()]
    for n in (201, 202):
        pages[n]["text"][1:] = [text.replace("zq200x", f"zq{n}x") for text in pages[200]["text"][1:]]
    write_lines(folder / "pages.jsonl", pages)
    ids = set(pq.read_table(folder / "runs" / "one.parquet").column("qid").to_pylist())
    for name, found in (("one", ("200:0", "202:0", "150:0")), ("two", ("201:0", "202:0"))):
        rows = [{"qid": id, "pid": pid, "score": -n / 10} for id in sorted(ids) for n, pid in enumerate(found)]
        pq.write_table(pa.Table.from_pylist(rows), folder / "runs" / f"{name}.parquet")
    asked = yaml.safe_load(recipe.read_text())
    asked["tasks"] = {"nq": asked["tasks"]["nq"]}
    recipe.write_text(yaml.safe_dump(asked))
    loaded, base = load_recipe(str(recipe), ["limit=1"])
    build = prepare(loaded, base, tmp_path / "work")
    through = next(at for at, stage in enumerate(STAGES) if stage.name == "filter")
    _run_stages(STAGES[: through + 1], build, 1, Console(quiet=True))
    table = read_table(build.path("filter", build.shards("filter")[0].name))
    pids = {row: build.corpus.passage(row).pid for row in set(table.column("row").to_pylist())}
    by_pid: dict[str, list[dict]] = {}
    for row in table.to_pylist():
        by_pid.setdefault(pids[row["row"]], []).append(row)
    assert {row["reason"] for pid in ("201:0", "202:0") for row in by_pid[pid]} == {"near_duplicate"}
    assert by_pid["200:0"] and all(row["reason"] is None for row in by_pid["200:0"])
    for row in by_pid["200:0"]:
        assert row["retrievers"] == ["one"]
        copies = {copy["pid"]: sorted(copy["retrievers"]) for copy in row["copies"]}
        assert copies == {"201:0": ["two"], "202:0": ["one", "two"]}
    assert all(row["copies"] == [] for row in by_pid["150:0"])
