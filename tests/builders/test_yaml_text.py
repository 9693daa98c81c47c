"""YAML that people write, and what is refused of it."""

import time
from pathlib import Path

import pytest

from builders.errors import SetupError, one_line, shown
from builders.load_recipe import RECIPES, find_recipe, load_recipe
from builders.yaml_text import parsed_yaml

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text, message",
    [
        (BOMB, "line 5: more than 20000 values"),
        ("a: &x {b: *x}", "line 1: an alias contains itself"),
        ("a: 1\nb: {c: 1, d: 2, 'c': 3}", "line 2: key 'c' twice in one mapping"),
        ("a: None", "line 1: None is text in YAML; write null"),
        ("- [None]", "line 1: None is text in YAML; write null"),
        ("a: " + "9" * 5000, "Exceeds the limit"),
        ("[" * 20_000, "nested too deeply"),
        ('a: "x\\ud83d"', "line 1: 'x\\ud83d' has half a surrogate pair"),
        ("a: !!timestamp soon", "is not YAML"),
        ("a: !!bool soon", "is not YAML"),
        ("a: [1,\n'" + "x" * 9999, "line 2: "),
        ("a: *b", "found undefined alias"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """In a moment, in one line that quotes little."""
    began = time.monotonic()
    with pytest.raises(SetupError) as error:
        parsed_yaml(text, "r.yaml")
    assert message in str(error.value) and str(error.value).startswith("r.yaml is not YAML: ")
    assert "\n" not in str(error.value) and len(str(error.value)) < 300
    assert time.monotonic() - began < 20


def test_accepted() -> None:
    text = "a: &x {b: 1, c: [2]}\nd: {<<: *x, b: 3}\ne: *x\nf: 'None'\ng: null\nh: 2024-13-45\ni: 2024-01-02"
    assert parsed_yaml(text, "") == {
        "a": {"b": 1, "c": [2]},
        "d": {"b": 3, "c": [2]},
        "e": {"b": 1, "c": [2]},
        "f": "None",
        "g": None,
        "h": "2024-13-45",
        "i": "2024-01-02",
    }


@pytest.mark.parametrize(
    "setting",
    ["knowledge.licence=None", "runs=None", "seed=[", "name=2024-13-45", "name=[[[1]]]", "lengths=[1e400]",
     "limit=.inf",
     f"limit={'9' * 5000}", f"{'x' * 5000}=1", "a\nb=1", "kind=[1]", "kind={a: b}", "tasks=&a [*a]", "knowledge.rows=x",
     f"name={'y' * 9999}", "tasks={nq: {gold: some}}", "knowledge.path.x=1", "=", "retrievers.minilm.dtype=auto",
     "reserve=99999999999999999999", "version=1", "seed=null", "1=1", "knowledge={1: 2}"],
)  # fmt: skip
def test_a_setting_that_is_refused_is_one_line(setting: str) -> None:
    with pytest.raises(SetupError) as error:
        load_recipe("demo", [setting])
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


def test_none_is_refused_with_the_word_for_it() -> None:
    with pytest.raises(SetupError, match="write null for nothing"):
        load_recipe("demo", ["runs=None"])
    assert load_recipe("demo", ["knowledge.licence=null"])[0].knowledge.licence is None


def test_secrets_of_urls_are_in_no_digest_and_no_line(tmp_path: Path) -> None:
    url = "https://me:pass@host:8/x/pages.jsonl?token=SECRET#x"
    one = load_recipe("demo", [f"knowledge.path={url}"])[0].portable()
    other = load_recipe("demo", ["knowledge.path=https://host:8/x/pages.jsonl?token=OTHER"])[0].portable()
    assert one == other and one["knowledge"]["path"] == "pages.jsonl"
    assert load_recipe("demo", ["seed=s3://a:b@c/d?e"])[0].portable()["seed"] == "s3://c/d"
    text = (RECIPES / "demo.yaml").read_text().replace('"bundled:intros"', url).replace("rows: 10033", "rows: x")
    (tmp_path / "r.yaml").write_text(text)
    for recipe, settings in (("demo", [f"knowledge={{path: '{url}'}}"]), (str(tmp_path / "r.yaml"), [])):
        with pytest.raises(SetupError) as error:
            load_recipe(recipe, settings)
        assert not any(secret in str(error.value) for secret in ("SECRET", "pass@", "me:"))


@pytest.mark.parametrize("path", ["x" * 5000, "~nouser-here/r.yaml", "", ".", "/"])
def test_a_recipe_that_no_file_can_be(path: str) -> None:
    with pytest.raises(SetupError, match="no recipe at") as error:
        find_recipe(path)
    assert len(str(error.value)) < 500


def test_a_home_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="~nouser-here/x: no home folder is known for ~nouser-here"):
        load_recipe("demo", ["data=~nouser-here/x"])[0].base(tmp_path)


def test_values_in_messages_are_short() -> None:
    huge: list = [10**6000, "x" * 10**6, {"k": [[[[1]]]] * 999}]
    huge.append(huge)
    assert len(shown(huge)) <= 110 and len(shown(10**6000)) < 60
    assert shown("a\nb") == "'a\\nb'"
    assert one_line("a\n\x1b[31m\u2028b") == "a [31m b"
    assert one_line("http:/u:p@h/x?token=1/y is not there") == "http:/h/x is not there"
    assert one_line("see http://u:p@h/a?b=c#d, 'https://h/x'") == "see http://h/a 'https://h/x'"
