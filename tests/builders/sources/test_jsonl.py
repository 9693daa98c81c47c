"""Streaming JSON, and what the user is told of a broken line."""

import gzip
import json
from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.sources.jsonl import _BLOCK, Record, read_records


def written(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "file.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def values(path: Path) -> list[dict]:
    return [record.values for record in read_records(path)]


def test_lines(tmp_path: Path):
    path = written(tmp_path, '\ufeff{"a": 1}\r\n\n{"a": "x\u2028y"}')
    records = list(read_records(path))
    assert [record.values for record in records] == [{"a": 1}, {"a": "x\u2028y"}]
    assert [record.where for record in records] == [f"{path}, line 1", f"{path}, line 3"]


def test_gzip(tmp_path: Path):
    assert values(written(tmp_path, gzip.compress(b'{"a": 1}\n{"a": 2}\n'))) == [{"a": 1}, {"a": 2}]
    assert values(written(tmp_path, gzip.compress(b'[{"a": 1}, {"a": 2}]'))) == [{"a": 1}, {"a": 2}]


def test_damaged_gzip(tmp_path: Path):
    content = gzip.compress(json.dumps({"a": list(range(9999))}).encode())
    with pytest.raises(SetupError, match="damaged gzip file"):
        values(written(tmp_path, content[:-40]))


@pytest.mark.parametrize("content", ['[{"a": 1}, {"a": 2}]', ' [\n{"a": 1}\n,{"a": 2}]\n'])
def test_array(tmp_path: Path, content: str):
    assert values(written(tmp_path, content)) == [{"a": 1}, {"a": 2}]
    assert values(written(tmp_path, "[]")) == []


def test_array_longer_than_a_block(tmp_path: Path):
    wanted = [{"n": n, "text": "x" * (_BLOCK // 3)} for n in range(9)]
    assert values(written(tmp_path, json.dumps(wanted))) == wanted


def test_array_of_broken_text(tmp_path: Path):
    """Where parsers of JSON differ, arrays are read as lines are."""
    text = '{"half": "x\\ud83dy", "whole": "\\ud83d\\ude00", "id": 123456789012345678901234567890}'
    wanted = [{"half": "x\ufffdy", "whole": "😀", "id": 123456789012345678901234567890}]
    assert values(written(tmp_path, f"[{text}]")) == values(written(tmp_path, text)) == wanted


def test_array_nested_too_deeply(tmp_path: Path):
    """A file of 20 kB is an error at once, and takes no gigabytes."""
    with pytest.raises(SetupError, match="record 1: not JSON"):
        values(written(tmp_path, "[" * 20_000))


def test_array_is_streamed(tmp_path: Path):
    records = read_records(written(tmp_path, '[{"a": 1}, broken'))
    assert next(records).values == {"a": 1}
    with pytest.raises(SetupError, match="record 2: not JSON"):
        next(records)


def test_dates_stay_strings(tmp_path: Path):
    """Dates stay text."""
    assert values(written(tmp_path, '{"a": ["2012-08-15", "1999-01-01"]}')) == [{"a": ["2012-08-15", "1999-01-01"]}]


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path):
    assert values(written(tmp_path, r'{"a": "x\ud83dy", "b": "\ud83d\ude00"}')) == [{"a": "x\ufffdy", "b": "😀"}]


@pytest.mark.parametrize(
    "content, message",
    [
        ('{"a": 1}\n{"a": \n', "line 2: not JSON"),
        ('{"a": 1}\n[1]\n', "line 2: a list, wanted an object"),
        ('{"a": 1}\n"x"\n', "line 2: a string, wanted an object"),
        (b'{"a": 1}\n{"a": "\xff"}\n', "line 2: not UTF-8"),
        ("[1]", "record 1: a whole number, wanted an object"),
        ('[{"a": 1}, {"a": 2}', "record 3: not JSON"),
        ('[{"a": 1}][{"a": 2}]', r"after record 1: '\[' after the end of the array; wanted one array a file"),
        ('[{"a": 1}]garbage', "after record 1: 'g' after the end of the array"),
        ("[]\n{}", "after record 0: '{' after the end of the array"),
        ('[{"a": 1}{"a": 2}]', "after record 1: not JSON .'{', wanted a comma"),
        ('[{"a": 1},]', "record 2: not JSON"),
        ('[,{"a": 1}]', "record 1: not JSON"),
        ("[", "record 1: not JSON"),
        ('{"a": 1}{"a": 2}', "line 1: not JSON"),
        ('{"b": 1}\n{"a": 1, "a": 1}', "line 2: not JSON .key 'a' twice in one object"),
        ('[{}, {"a": {"b": 1, "b": 2}}]', "record 2: not JSON .key 'b' twice in one object"),
        ('{"a": NaN}', "line 1: not JSON .NaN is not a number of JSON"),
        ('[{"a": -Infinity}]', "record 1: not JSON .-Infinity is not a number of JSON"),
        ('{"a": ' + "9" * 5000 + "}", "line 1: not JSON .Exceeds the limit"),
        ("[" + "9" * 5000 + "]", "record 1: not JSON .Exceeds the limit"),
        ('{"a":' * 10_000, "line 1: not JSON .nested too deeply"),
    ],
)
def test_broken(tmp_path: Path, content: str | bytes, message: str):
    with pytest.raises(SetupError, match=message):
        values(written(tmp_path, content))


def test_wrong_types_are_named():
    record = Record({"id": 1.5, "output": [{"answer": None}, 3], "text": ["a", 1], "flag": True}, "f, line 2")
    for read, message in [
        (lambda: record.text("input"), "f, line 2: input is missing, wanted a string"),
        (lambda: record.identifier("id"), "f, line 2: id is a number, wanted a string"),
        (lambda: record.integer("flag"), "f, line 2: flag is true or false, wanted a whole number"),
        (lambda: record.texts("text"), r"f, line 2: text\[1\] is a whole number, wanted a string"),
        (lambda: record.objects("output"), r"f, line 2: output\[1\] is a whole number, wanted an object"),
    ]:
        with pytest.raises(SetupError, match=message):
            read()
    inner = Record({"output": [{"answer": None}]}, "f, line 2").objects("output")[0]
    with pytest.raises(SetupError, match=r"f, line 2: output\[0\]\.answer is null, wanted a string"):
        inner.text("answer")


@pytest.mark.parametrize("cut", range(_BLOCK - 12, _BLOCK + 2))
def test_a_block_may_end_anywhere(tmp_path: Path, cut: int):
    """Also inside a number, between two records and before the end of the array."""
    head = '[{"a": "' + "x" * (cut - 20) + '"}'
    path = written(tmp_path, head + ', {"b": 123456} , {"c": 1}]' + " " * 30)
    assert values(path)[1:] == [{"b": 123456}, {"c": 1}]


def test_whole_numbers_have_32_bits():
    record = Record({"hops": 2**63, "a": [{"hops": -(2**31) - 1}], "id": 10**400, "most": 2**31 - 1}, "f, line 2")
    with pytest.raises(SetupError, match="f, line 2: hops is 9223372036854775808, wanted -2147483648 to 2147483647"):
        record.integer("hops")
    with pytest.raises(SetupError, match=r"f, line 2: a\[0\].hops is -2147483649"):
        record.objects("a")[0].integer("hops")
    assert record.integer("most") == 2**31 - 1 and len(record.identifier("id")) == 401


def test_an_error_quotes_little_and_in_one_line():
    record = Record({"x\n" * 9999: 1}, "f, line 2")
    for read in (lambda: record.text("x\n" * 9999), lambda: record.text("y\n" * 9999)):
        with pytest.raises(SetupError) as error:
            read()
        assert len(str(error.value)) < 200 and "\n" not in str(error.value)


def test_ids_may_be_numbers():
    assert Record({"id": 137334}, "").identifier("id") == "137334"
