from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from builders.bundled import bundled_file
from builders.errors import SetupError
from builders.tokens import token_counter


def word_tokenizer(path: Path) -> Path:
    """A tokenizer of whole words that puts a mark at the beginning and would cut at three tokens."""
    made = Tokenizer(models.WordLevel({"[BOS]": 0, "a": 1, "b": 2, "?": 3}, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(single="[BOS] $A", special_tokens=[("[BOS]", 0)])
    made.enable_truncation(3)
    made.enable_padding(length=3)
    made.save(str(path))
    return path


def test_neither_special_tokens_nor_a_saved_limit_count(tmp_path: Path) -> None:
    """Special tokens are counted once; a limit that is not set."""
    counter = token_counter(str(word_tokenizer(tmp_path / "tokenizer.json")))
    assert counter.count("a b a b a") == 5
    assert counter.count("") == 0
    assert counter.count_all(["a", "a b", "a b a b a"]) == [1, 2, 5]


def test_a_folder_and_a_file_are_the_same(tmp_path: Path) -> None:
    word_tokenizer(tmp_path / "tokenizer.json")
    assert token_counter(str(tmp_path)).sha256 == token_counter(str(tmp_path / "tokenizer.json")).sha256


@pytest.mark.parametrize("text", ["🍕 pizza", "a\n\nb", "naïve café", "12,345", "   ", "東京", "x" * 300])
def test_counts_are_those_of_transformers(text: str, tokenizer: Any) -> None:
    """The whole text, not parts of it."""
    assert token_counter("smollm2").count(text) == len(tokenizer(text)["input_ids"])


def test_the_bundled_tokenizer_is_that_of_the_bundled_model() -> None:
    assert token_counter("smollm2").sha256 == token_counter(str(bundled_file("smollm2"))).sha256


def test_what_is_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nowhere/there"):
        token_counter("nowhere/there")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SetupError, match="cannot be read"):
        token_counter(str(tmp_path))
