"""The check's own count of tokens, against the builder's, over kinds of tokenizers and texts."""

from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.tokens import token_counter
from tests.eval_harness.models.test_plain_text import KINDS, TAGS
from validation.own_count import OwnCounter

TEXTS = [*TAGS, "", "A tag closes.", "x <s>", "a\n\nb", "</s></s>two <|end|>\n\n  of them", "<unk> </think >", "< s>"]


@pytest.mark.parametrize("kind", KINDS)
def test_both_counts_agree(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    KINDS[kind]().save(str(path))
    own, counter = OwnCounter(str(path)), token_counter(str(path))
    assert own.sha256 == counter.sha256
    assert own.count_all(TEXTS) == counter.count_all(TEXTS)
    assert [own.has_tag([text]) for text in TEXTS[:9]] == [True] * 7 + [False] * 2


def test_both_counts_of_the_bundled_tokenizer_agree() -> None:
    own, counter = OwnCounter("smollm2"), token_counter("smollm2")
    assert own.count("The tag <|im_end|> closes") == counter.count("The tag <|im_end|> closes") == 10
    page = (Path(__file__).parents[2] / "README.md").read_text()
    assert own.count(page) == counter.count(page) > 100


def test_a_broken_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(SetupError, match="cannot be read"):
        OwnCounter(str(tmp_path))
