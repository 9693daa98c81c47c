"""The head of a card: what is read, and what is refused in one line."""

import time
from typing import Any

import pytest

from builders.errors import SetupError
from dataset_cards.front_matter import head_of
from tests.dataset_cards.cards import join_card

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("card", "head"),
    [
        ("---\na: 1\n---\nx", {"a": 1}),
        ("\ufeff---\r\na: 1\r\n---\r\nx", {"a": 1}),
        ("x", {}),
        ("---\n---\n", {}),
        ("---\n- a rule, then a list\n---\n", {}),
        ("---\na: &x [1]\nb: *x\n---\n", {"a": [1], "b": [1]}),
    ],
)
def test_what_is_read(card: str, head: dict[str, Any]) -> None:
    assert head_of(card) == head


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [\n", "its YAML does not parse"),
        ("a: 1\na: 2\n", "a key occurs twice"),
        ("a: &a [*a]\n", "aliases stand for more than"),
        (LAUGHS, "aliases stand for more than"),
        ("[" * 5000 + "\n", "nested too deeply"),
        ("a: !!python/object/apply:os.system [ls]\n", "could not determine a constructor"),
        ("1: 2\n", "found the field 1, wanted a text"),
        ("configs: 3\n", "configs: found 3, wanted a valid list"),
        ("configs: [x]\n", "configs.0: found 'x', wanted a valid dictionary"),
        ("configs: [{config_name: 3}]\n", "configs.0.config_name: found 3, wanted a valid string"),
        ("configs: [{data_files: x}]\n", "configs.0.config_name: found nothing"),
        ("configs: [{config_name: a, data_files: [{split: test}]}]\n", "configs.0.data_files"),
        ("configs: [{config_name: a, data_files: [{split: test, path: 3}]}]\n", "configs.0.data_files"),
        ("dataset_info: [3]\n", "dataset_info"),
        ("dataset_info: {splits: 3}\n", "dataset_info"),
    ],
)
def test_what_is_refused_in_one_line(text: str, says: str) -> None:
    began = time.process_time()
    with pytest.raises(SetupError) as refused:
        head_of(f"---\n{text}---\n", "README.md", "run: icr2 card")
    told = str(refused.value)
    assert told.startswith("README.md: ") and says in told and told.endswith("; run: icr2 card")
    assert "\n" not in told and len(told) < 400
    assert time.process_time() - began < 30  # nine aliases deep took a minute and a gigabyte


def test_a_card_of_ours_comes_back() -> None:
    head = {"configs": [{"config_name": "a", "data_files": [{"split": "test", "path": ["a/x.parquet"]}]}]}
    assert head_of(join_card(head, "text")) == head
