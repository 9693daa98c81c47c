"""Wikipedia introductions."""

import json
from collections import Counter
from pathlib import Path

import pytest

from builders.bundled import bundled_file
from builders.errors import SetupError
from builders.schema import Page
from builders.sources.intros import read_pages


def test_ids_are_positions(tmp_path: Path):
    path = tmp_path / "intros.json"
    texts = {"A&amp;B": "One.", "Gap": " ", "C": "Two."}
    path.write_text(json.dumps({title: {"title": title, "extract": text} for title, text in texts.items()}))
    counts: Counter[str] = Counter()
    assert list(read_pages(path, counts)) == [
        Page("i1", "A&B", ["A&amp;B", "One."], []),
        Page("i3", "C", ["C", "Two."], []),
    ]
    assert counts == {"read": 3, "empty_page": 1}


@pytest.mark.parametrize(
    "content, message",
    [("{", "not JSON"), ("[]", "no JSON object"), ('{"A": {"title": "A"}}', r"A\.extract is missing")],
)
def test_broken(tmp_path: Path, content: str, message: str):
    path = tmp_path / "intros.json"
    path.write_text(content)
    with pytest.raises(SetupError, match=message):
        list(read_pages(path, Counter()))


def test_bundled():
    counts: Counter[str] = Counter()
    pages = list(read_pages(bundled_file("intros"), counts))
    assert counts["read"] == 10033 and len({page.page_id for page in pages}) == len(pages) >= 10000
