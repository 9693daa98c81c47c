"""Prompts that are read and targets that are learned, to the token."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.errors import SetupError
from eval_harness.data.dataset import Instance, Passage, prompt_over
from eval_harness.methods.variants import VARIANTS, Variant, target
from eval_harness.models.stops import end_of_output
from eval_harness.models.template import Template
from eval_harness.train.collate import IGNORED, Collator
from eval_harness.train.encode import Encoded, Encoder, add_marks
from tests.eval_harness.conftest import save_tokenizer
from tests.eval_harness.specs import NQ, SPECS

WORDS = st.text(max_size=30) | st.sampled_from(["</s>", "<RETRIEVAL>", "a\n\nAnswer: b", "<|im_end|> é𝒳", "  "])
ANSWERS = {
    "nq": st.sampled_from(["Jane Austen", "é 1990–1995", "<|im_end|> inside", "</RETRIEVAL>x"]),
    "fever": st.sampled_from(["SUPPORTS", "REFUTES"]),
    "wow": st.sampled_from(["I see.\nAnd you?", "Answer: none"]),
}
LONG = 1 << 20


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances of every task, with any number of passages, gold among them."""
    task = draw(st.sampled_from(sorted(ANSWERS)))
    texts = draw(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
    gold = draw(st.sets(st.sampled_from(range(len(texts))), min_size=1))
    passages = [Passage(f"{n}:0", title, text, "random") for n, (title, text) in enumerate(texts)]
    return Instance("x-1", SPECS[task], draw(WORDS), [draw(ANSWERS[task])], passages, sorted(gold))


def made_tokenizer(folder: Path, chat: bool) -> Any:
    """The byte-level tokenizer with the marks of a retrieval."""
    from transformers import AutoTokenizer

    save_tokenizer(folder, chat=chat)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    add_marks(tokenizer)
    return tokenizer


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Any]:
    """With and without a chat template."""
    return {chat: made_tokenizer(tmp_path_factory.mktemp("tokenizer"), chat) for chat in (True, False)}


@given(
    instance=instances(), variant=st.sampled_from(VARIANTS), chat=st.booleans(), marks=st.booleans(), cut=st.booleans()
)
def test_what_is_learned_is_the_target_and_its_end_to_the_token(
    instance: Instance, variant: Variant, chat: bool, marks: bool, cut: bool, tokenizers: dict[bool, Any]
) -> None:
    tokenizer = tokenizers[chat]
    encoder = Encoder(tokenizer, "tiny", variant, LONG, marks=marks)
    whole = encoder.encode(instance)
    assert isinstance(whole, Encoded)
    if cut:  # one token too few, so that passages give way
        encoder = Encoder(tokenizer, "tiny", variant, len(whole.ids) - 1, marks=marks)
    found = encoder.encode(instance)
    if not isinstance(found, Encoded):
        assert found == "over_long"
        assert {*instance.gold} == {*range(len(instance.passages))}
        return
    shown = encoder.shown(instance, found.n_removed)
    batch = Collator(pad=tokenizer.eos_token_id, tail=False)([found])
    learned = [int(token) for token in batch["labels"][0] if token != IGNORED]
    end = "<|im_end|>" if chat else "</s>"
    assert tokenizer.decode(learned) == target(instance, shown, variant, marks) + end
    assert tokenizer.decode(found.ids[: found.n_prompt]) == Template(tokenizer, "tiny").render(
        prompt_over(instance, shown).text
    )
    assert learned.count(tokenizer.convert_tokens_to_ids(end)) == 1
    n_marks = sum(token in tokenizer.convert_tokens_to_ids(["<RETRIEVAL>", "</RETRIEVAL>"]) for token in found.ids)
    assert n_marks == (2 if marks and variant != "da" else 0)


def test_a_tokenizer_that_writes_spaces_of_its_own_learns_the_same() -> None:
    """As sentencepiece does, a space is put before each stretch of text, and taken away again when it is decoded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2, "▁": 3} | {chr(n): n for n in range(10, 127)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    inner.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    add_marks(tokenizer)
    passages = [Passage("a:0", "Peru", "Lima is it.", "gold")]
    instance = Instance("nq-1", NQ, "which", ["Lima"], passages, [0])
    found = Encoder(tokenizer, "tiny", "cci", LONG).encode(instance)
    assert isinstance(found, Encoded)
    opens, closes = tokenizer.convert_tokens_to_ids(["<RETRIEVAL>", "</RETRIEVAL>"])
    learned = found.ids[found.n_prompt :]
    assert (learned[0], learned[-1]) == (opens, tokenizer.eos_token_id)
    between = [
        tokenizer.decode(part) for part in (learned[1 : learned.index(closes)], learned[learned.index(closes) + 1 : -1])
    ]
    assert between == ["[1]", "\nLima"]


def many(n: int, gold: int = 3) -> Instance:
    """An instance with n passages of a hundred bytes."""
    passages = [Passage(f"{at}:0", f"T{at}", f"{at % 10}" * 100, "random") for at in range(n)]
    return Instance("nq-7", NQ, "what", ["Lima"], passages, [gold])


def test_passages_that_are_not_gold_give_way_to_the_limit_and_the_answer_never_does(
    tokenizers: dict[bool, Any],
) -> None:
    """The context is shortened, and the answer is not cut."""
    tokenizer = tokenizers[True]
    encoder = Encoder(tokenizer, "tiny", "rta", 1200, seed="1")
    found = encoder.encode(many(20))
    assert isinstance(found, Encoded)
    assert 1200 - 130 < len(found.ids) <= 1200  # no more than had to go: a passage takes about 120
    shown = encoder.shown(many(20), found.n_removed)
    assert "3:0" in [passage.pid for passage in shown]
    number = [passage.pid for passage in shown].index("3:0") + 1
    text = tokenizer.decode(found.ids[found.n_prompt :])
    assert text.startswith(f"<RETRIEVAL>ID: {number}\nTitle: T3\n")
    assert text.endswith("</RETRIEVAL>\nLima<|im_end|>")
    places = [int(passage.pid.split(":")[0]) for passage in shown]
    assert places == sorted(places)
    other = Encoder(tokenizer, "tiny", "rta", 1200, seed="2")
    assert other.shown(many(20), found.n_removed) != shown


def test_what_cannot_be_learned_from_says_why(tokenizers: dict[bool, Any]) -> None:
    """What gold and answer alone are too long for is left out; without answer, or gold."""
    encoder = Encoder(tokenizers[True], "tiny", "da", 200)
    assert encoder.encode(many(20)) == "over_long"
    assert encoder.encode(many(20)._replace(answers=["<unk>"])) == "no_answer"
    assert encoder.encode(many(20)._replace(gold=[])) == "no_gold"


def test_an_output_ends_with_the_templates_turn_end_else_with_the_end_of_text(tokenizers: dict[bool, Any]) -> None:
    assert [end_of_output(tokenizers[chat], "tiny") for chat in (True, False)] == [3, 1]
    import copy

    bare = copy.deepcopy(tokenizers[False])
    bare.eos_token = None
    with pytest.raises(SetupError, match="has no end-of-text token"):
        end_of_output(bare, "tiny")
    closing = copy.deepcopy(tokenizers[True])
    closing.chat_template = "{% for m in messages %}[{{ m.role }}] {{ m.content }}{{ eos_token }}\n{% endfor %}"
    assert end_of_output(closing, "tiny") == 1


def test_marks_are_added_once(tokenizers: dict[bool, Any]) -> None:
    assert add_marks(tokenizers[True]) == []
    assert len(tokenizers[True]) == 262
