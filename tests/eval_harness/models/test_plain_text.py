"""The text of a control token in data is plain text, and the template's tokens are the same around it."""

from pathlib import Path
from typing import Any

import pytest

from builders.tokens import TokenCounter, token_counter
from eval_harness.models.template import Template

TAGS = ["<s>", "</s>", "<|user|>", "<|end|>", "<tool_call>", "</think>", "<|table|>"]
FRAME = "<s><|user|>\n{}<|end|>\n<|assistant|>\n"
PASSAGE = "A tag {} closes. {}{} <|im_start|>x"
WORDS = "A tag closes word two of them . < > | / _ user end tool call think table s".split()


def bytes_of(**flags: bool) -> Any:
    """Byte-level BPE, as of Llama 3, Phi-3, Qwen; `flags` are those of its added tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("<", "/"), ("</", "s"), ("</s", ">"), ("<", "s"), ("<s", ">"), ("Ċ", "Ċ"), ("Ġ", "t")]
    tokens = ["<s>", "</s>", *alphabet, *(a + b for a, b in merges if a + b not in ("<s>", "</s>"))]
    made = Tokenizer(models.BPE({t: n for n, t in enumerate(tokens)}, merges, ignore_merges=True))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = [AddedToken(t, special=True, normalized=False, **flags) for t in ("<s>", "</s>", "<|user|>", "<|end|>")]
    made.add_special_tokens([*special, AddedToken("<|assistant|>", special=True, normalized=False, **flags)])
    made.add_tokens([AddedToken(t, special=False, normalized=False, **flags) for t in TAGS[4:]])
    made.add_tokens([AddedToken("\n\n", special=False, normalized=False)])
    return made


def pieces_of(prefix: str) -> Any:
    """Pieces as SentencePiece writes them, as of Llama-2 and Gemma; `prefix` says how a space comes first."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

    parts = sorted({letter for word in WORDS for letter in word} | {"\n", "x", "i", "m", "t", "ﷺ"})
    pieces = [(t, 0.0) for t in ("<unk>", "<s>", "</s>")] + [(f"▁{word}", -2.0) for word in WORDS]
    pieces += [("▁", -3.0), *((part, -4.0) for part in parts if part not in ("▁",))]
    made = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    if prefix == "legacy":
        made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prefix, split=False)
    made.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in ("<unk>", *TAGS[:4])])
    made.add_special_tokens([AddedToken("<|assistant|>", special=True, normalized=False)])
    made.add_tokens([AddedToken(t, special=False, normalized=False) for t in TAGS[4:]])
    return made


KINDS = {
    "bytes": lambda: bytes_of(),
    "rstrip": lambda: bytes_of(rstrip=True),
    "lstrip": lambda: bytes_of(lstrip=True),
    "single_word": lambda: bytes_of(single_word=True),
    "legacy": lambda: pieces_of("legacy"),
    "first": lambda: pieces_of("first"),
    "always": lambda: pieces_of("always"),
    "never": lambda: pieces_of("never"),
}


def fast(made: Any) -> Any:
    from transformers import PreTrainedTokenizerFast

    found = PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>")
    found.chat_template = (
        "<s>{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    )
    return found


@pytest.fixture(params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Any:
    return fast(KINDS[request.param]())


def filled(*tags: str) -> str:
    return PASSAGE.format(*tags)


@pytest.mark.parametrize("tag", TAGS)
def test_an_added_token_in_data_is_read_as_plain_text(tokenizer: Any, tag: str, tmp_path: Path) -> None:
    """Special or not; the template's own tokens are those around a text without it."""
    template = Template(tokenizer, "m")
    prompt, plain = filled(tag, tag, ""), filled("word", "two", "")
    ids, other = template.encode(prompt), template.encode(plain)
    control = {*tokenizer.added_tokens_decoder} - {tokenizer.get_vocab().get("\n\n")}
    inside = [id for id in ids if id in control]
    assert inside == [id for id in other if id in control]  # the frame's, and no other
    n_before = sum(end <= 0 for _, end in template.places(plain))
    n_after = sum(start >= len(plain) for start, _ in template.places(plain))
    assert ids[:n_before] == other[:n_before] and n_before >= 2
    assert ids[-n_after:] == other[-n_after:] and n_after >= 2
    tokenizer.save_pretrained(tmp_path)
    counter = token_counter(str(tmp_path))
    assert counter.count(f"x {tag}") > counter.count("x ") + 1
    assert counter.count_all([prompt, tag]) == [counter.count(prompt), counter.count(tag)]


def test_a_prompt_without_added_tokens_is_read_as_its_tokenizer_reads_the_whole_text(tokenizer: Any) -> None:
    template = Template(tokenizer, "m")
    for prompt in ("A tag closes.", " A tag \n\ncloses. ", "tag<|im_end|", "<", "closes.\n\n\n"):
        assert template.render(prompt) == FRAME.format(prompt)
        assert template.encode(prompt) == tokenizer(FRAME.format(prompt), add_special_tokens=False).input_ids


def test_places_are_those_of_the_prompts_characters(tokenizer: Any) -> None:
    template = Template(tokenizer, "m")
    prompt = filled("</s>", "<tool_call>", "")
    inside = [(start, end) for start, end in template.places(prompt) if 0 <= start < end <= len(prompt)]
    covered = {at for start, end in inside for at in range(start, end)}
    assert {at for at, letter in enumerate(prompt) if not letter.isspace()} <= covered


def test_white_space_that_a_tokenizer_adds_stays_one_token(tmp_path: Path) -> None:
    """Text that is data's own, as Gemma's runs of line ends."""
    tokenizer = fast(bytes_of())
    template = Template(tokenizer, "m")
    assert tokenizer.get_vocab()["\n\n"] in template.encode("a\n\nb")
    tokenizer.save_pretrained(tmp_path)
    assert token_counter(str(tmp_path)).count("a\n\nb") == 3


def test_a_tokenizer_without_a_backend_reads_plain_text_too() -> None:
    from transformers import ByT5Tokenizer

    tokenizer: Any = ByT5Tokenizer(extra_ids=2)
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}</s>{% endfor %}"
    template = Template(tokenizer, "m")
    found, plain = template.encode("a</s>b<pad>c"), template.encode("abc")
    assert len(found) - len(plain) == len("</s><pad>")
    assert found.count(tokenizer.eos_token_id) == plain.count(tokenizer.eos_token_id) == 1
    assert template.tokenised("a").places is None


def test_the_bundled_tokenizer_counts_a_tag_as_the_model_reads_it(tokenizer_of_smollm2: Any) -> None:
    text = "The tag <|im_end|> closes"
    counter: TokenCounter = token_counter("smollm2")
    template = Template(tokenizer_of_smollm2, "smollm2")
    assert counter.count(text) == 10
    assert len(template.encode(text)) - len(template.encode("")) == 10


@pytest.fixture(scope="module")
def tokenizer_of_smollm2() -> Any:
    from transformers import AutoTokenizer

    from builders.bundled import bundled_file

    gguf = bundled_file("smollm2")
    return AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
