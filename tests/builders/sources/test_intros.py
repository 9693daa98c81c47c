"""Wikipedia introductions."""

import json
from collections import Counter
from pathlib import Path

import pytest

from builders.bundled import bundled_file
from builders.errors import SetupError
from builders.schema import Page
from builders.sources.intros import read_pages


@pytest.mark.parametrize(
    "content, message",
    [
        ("[]", "a list and no JSON object"),
        ('{"a": {}, "a": {}}', "not JSON .key 'a' twice"),
        ("{" * 3, "not JSON"),
        ('{"a":' * 10_000, "not JSON .nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON .Exceeds the limit"),
        ('{"a": {"title": "T", "extract": 1}}', "a.extract is a whole number, wanted a string"),
        ('{"a": 3}', "a is a whole number, wanted an object"),
    ],
)
def test_a_broken_file_is_an_error_of_one_line(tmp_path: Path, content: str, message: str):
    (tmp_path / "f").write_text(content)
    with pytest.raises(SetupError, match=message) as error:
        list(read_pages(tmp_path / "f", Counter()))
    assert "\n" not in str(error.value)


def test_half_a_surrogate_pair_is_replaced(tmp_path: Path):
    (tmp_path / "f").write_text(r'{"a": {"title": "T\ud83d", "extract": "x\ude00y"}}')
    assert list(read_pages(tmp_path / "f", Counter())) == [Page("i1", "T\ufffd", ["T\ufffd", "x\ufffdy"], [])]


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
