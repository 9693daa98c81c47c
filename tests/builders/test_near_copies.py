"""A near copy that is left out stays known: the kept passage's row has its pid and its retrievers."""

import json
from pathlib import Path

from rich.console import Console

from builders.files import read_table
from builders.load_recipe import load_recipe
from builders.pipeline import STAGES, _run_stages, prepare
from tests.builders.tiny import write_lines, write_tiny_kilt


def test_the_kept_one_of_near_copies_names_the_others_and_who_found_them(tmp_path: Path) -> None:
    """Every page has a copy with another number; the tiny runs find some of both."""
    recipe = write_tiny_kilt(tmp_path / "kilt")
    path = tmp_path / "kilt" / "pages.jsonl"
    pages = [json.loads(line) for line in path.read_text().splitlines()]
    for one, other in zip(pages[::2], pages[1::2], strict=True):
        other["text"] = [other["text"][0], *one["text"][1:]]
    write_lines(path, pages)
    build = prepare(*load_recipe(str(recipe), ["tasks.nq.gold_without_answer=flag"]), tmp_path / "work")
    _run_stages(STAGES[:9], build, 1, Console(quiet=True))
    rows = [row for shard in build.shards("filter") for row in read_table(build.path("filter", shard.name)).to_pylist()]
    dropped = {
        (row["qid"], build.corpus.passage(row["row"]).pid): row for row in rows if row["reason"] == "near_duplicate"
    }
    named = {(row["qid"], copy["pid"]): copy for row in rows if row["reason"] is None for copy in row["copies"]}
    assert named.keys() == dropped.keys() and any(copy["retrievers"] for copy in named.values())
    assert all(named[key]["retrievers"] == dropped[key]["retrievers"] for key in named)
