import base64
import gzip
import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eval_harness.report.instances import first_instances, instances_of
from eval_harness.report.page import write_page
from eval_harness.report.parts import Document
from eval_harness.report.sections import compute, sections
from eval_harness.report.study import one_study, read_studies
from tests.eval_harness.report.conftest import HOSTILE, write_dataset, write_hostile_run


class Parsed(HTMLParser):
    """A page's scripts by id, its tags, and every address in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.policy = ""
        self._script: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]
        self._script = (values.get("id") or "") if tag == "script" else None
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = data
            self._script = None


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    here = tmp_path_factory.mktemp("page")
    dataset = write_dataset(here / "data")
    return dataset, write_hostile_run(here / "run", dataset)


def write(folders: tuple[Path, Path], path: Path, **options: Any) -> str:
    dataset, run = folders
    study = one_study(read_studies([run]))
    page = Document(f"t {HOSTILE}", f"s {HOSTILE}", sections(compute(study, "vanilla_rag")))
    write_page(page, study, instances_of(study, dataset), path, **options)
    return path.read_text(encoding="utf-8")


def content_of(text: str) -> dict[str, Any]:
    return json.loads(gzip.decompress(base64.b64decode(Parsed(text).scripts["data"])))


def test_nothing_is_loaded_and_nothing_breaks_out(folders: tuple[Path, Path], tmp_path: Path) -> None:
    text = write(folders, tmp_path / "page.html")
    parsed = Parsed(text)
    assert parsed.tags.count("script") == 2
    assert "img" not in parsed.tags
    assert all(address.startswith(("#", "data:")) for address in parsed.addresses)
    assert "onerror='" not in text
    digest = base64.b64encode(sha256(parsed.scripts[""].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in parsed.policy
    assert parsed.policy.startswith("default-src 'none';")


def test_the_browser_gets_every_row_and_each_passage_once(folders: tuple[Path, Path], tmp_path: Path) -> None:
    content = content_of(write(folders, tmp_path / "page.html"))
    assert len(content["rows"]) == 9
    assert len(content["instances"]) == 4
    assert len(content["passages"]) == 3  # three texts, each in two contexts
    nq = next(one for one in content["instances"] if one["id"] == "nq-1")
    assert [(role, by) for _, role, by in nq["context"]] == [("confounder", "bm25 rank 1"), ("gold", "")]
    row = next(one for one in content["rows"] if one["id"] == "nq-1" and one["method"] == "vanilla_rag")
    assert row["output"] == f"Jane Austen {HOSTILE}"
    assert (row["score"], row["metric"], row["status"]) == (1.0, "subspan_em", "ok")
    assert content["instances"][row["at"]]["answers"] == ["Jane Austen"]


def test_equal_reports_are_equal_pages(folders: tuple[Path, Path], tmp_path: Path) -> None:
    assert write(folders, tmp_path / "a.html") == write(folders, tmp_path / "b.html")


def test_a_page_that_is_too_large_leaves_out_texts_and_says_so(folders: tuple[Path, Path], tmp_path: Path) -> None:
    text = write(folders, tmp_path / "page.html", most=1)
    assert [passage[2] for passage in content_of(text)["passages"]] == [None, None, None]
    assert "3 of 3 passages are shown only by title" in text
    assert "only by title" not in write(folders, tmp_path / "whole.html")


def test_gold_keeps_its_text_longest(folders: tuple[Path, Path]) -> None:
    from eval_harness.report.payload import Room, payload

    dataset, run = folders
    study = one_study(read_studies([run]))
    shown = payload(study, instances_of(study, dataset), Room(passages=60, output=20))
    assert sorted(text or "" for _, _, text in shown.content["passages"]) == [
        "",
        "Emma is by Jane Austen.",
        "Osmium is dense indeed.",
    ]
    assert max(len(row["output"]) for row in shown.content["rows"]) == 22
    assert any("outputs are truncated to 20 characters" in note for note in shown.left_out)


def test_gold_of_another_query_is_no_gold(folders: tuple[Path, Path]) -> None:
    from eval_harness.report.payload import Room, payload

    dataset, _ = folders
    instances = first_instances(dataset, ["1k_p0"], "test", 1)
    row = instances["1k_p0", "nq-1"]
    row["passages"][0]["role"] = "gold"
    shown = payload(None, instances, Room(10_000, 1_000)).content
    assert [role for _, role, _ in shown["instances"][0]["context"]] == ["gold of another query", "gold"]


def test_a_page_of_sections_keeps_its_structure(folders: tuple[Path, Path], tmp_path: Path) -> None:
    text = write(folders, tmp_path / "page.html")
    ids = re.findall(r'<(?:section|details) id="([^"]+)"', text)
    assert ids == ["table3", "measures-fever", "measures-nq", "configs", "methods", "runs", "instances"]
    for target in re.findall(r'<a href="#([^"]+)"', text):
        assert target in ids
