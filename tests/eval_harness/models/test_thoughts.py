"""Thoughts of model families: which part of an output answers, and what a local model's text keeps."""

from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.hf import HfModel
from eval_harness.models.thoughts import kept_tokens, marks_of, named, opened, without_thoughts
from eval_harness.parsing.answers import Parsed, parse
from tests.eval_harness.conftest import save_model
from tests.eval_harness.specs import NQ

START = "<|channel|>analysis<|message|>"
FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"
PAIRS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<Thinking>", "</Thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
    (START, FINAL),
    ("Here is my thought process:\n", "Here is my response:\n"),
    ("Here's my thought process: ", "\n\nHere's my response:\n\n"),
]


@pytest.mark.parametrize(("opens", "closes"), PAIRS)
def test_thoughts_of_a_family_are_cut(opens: str, closes: str) -> None:
    assert without_thoughts(f"{opens}Paris or Rome? Lima!{closes}Rome") == "Rome"
    assert without_thoughts(f" \n{opens}\nParis\nor Rome?\n{closes}\n\nRome\n") == "Rome"
    assert parse(NQ, f"{opens}Paris or Rome?") == Parsed(None, 0, truncated=True)
    assert parse(NQ, f"{opens}Paris?{closes}") == Parsed(None, 0)


@pytest.mark.parametrize(("opens", "closes"), PAIRS[:16])
def test_thoughts_that_the_prompt_began_end_in_the_output(opens: str, closes: str) -> None:
    assert without_thoughts(f"Paris or Rome?{closes}Rome") == "Rome"
    assert opened(f"<|im_start|>assistant\n{opens}") == opens.removesuffix("thought\n")
    assert opened(f"<|im_start|>assistant\n{opens}{closes}\n\n") == ""


@pytest.mark.parametrize(
    ("output", "want"),
    [
        ("<think>a<think>b</think>c</think>Rome", "Rome"),
        ("<think>they write [THINK] and <thinking> here</think>Rome", "Rome"),
        ("<think>a</think><thinking>b</thinking>Rome", "Rome"),
        ("<think>a</think>Rome[THINK]b", None),
        ("<think>a</thinking>Rome", None),
        ("<think>Paris</think><response>Rome</response>", "Rome"),
        ("<thinking>Paris</thinking>\n<output>Rome</output>", "Rome"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Rome<|END_RESPONSE|>", "Rome"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Rome", "Rome"),
        ("<|channel|>final<|message|>Rome<|return|>", "Rome"),
        (f"{START}a<|end|><|start|>assistant<|channel|>commentary<|message|>Let me see.{FINAL}Rome", "Rome"),
        (f"{START}a<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>Rome", "Rome"),
        (f"{START}a<|end|><|start|>assistant<|channel|>commentary to=f<|message|>{{}}<|call|>", None),
        ("analysisThe user asks. Paris?assistantfinalRome", "Rome"),
        ("analysisThe user asks. Paris?", None),
        ("analysis of the text: Rome", "analysis of the text: Rome"),
        ("I think (think!) that [sic] it is Rome, a < b > c", "I think (think!) that [sic] it is Rome, a < b > c"),
        ("Here is my response: Rome", "Here is my response: Rome"),
    ],
)
def test_the_first_mark_decides_what_ends_thoughts(output: str, want: str | None) -> None:
    assert without_thoughts(output) == want


def test_marks_that_a_user_names_are_read_as_thoughts() -> None:
    marks = marks_of("<reflect> </reflect>")
    assert without_thoughts(named("<reflect>Paris?</reflect>Rome", marks)) == "Rome"
    assert without_thoughts(named("<reflect>Paris?", marks)) is None
    assert opened("assistant\n<reflect>\n", marks) == "<think>"
    assert kept_tokens({"<reflect>", "</reflect>", "<s>"}, marks) == {"<reflect>", "</reflect>"}
    assert marks_of(None) is None
    for written in ("<a>", "<a> <a>", "", "a b c"):
        with pytest.raises(SetupError, match="--thinking-marks"):
            marks_of(written)


def test_harmony_tokens_are_kept_only_where_there_are_channels() -> None:
    phi = {"<|end|>", "<|user|>", "<|endoftext|>"}
    assert kept_tokens(phi) == set()
    assert kept_tokens({*phi, "<|channel|>"}) == {"<|end|>", "<|channel|>"}


@pytest.fixture(scope="module")
def thinking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose tokenizer has control tokens for thoughts, and whose template begins them."""
    from transformers import AutoTokenizer

    folder = save_model(tmp_path_factory.mktemp("models") / "thinking")
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["[THINK]", "[/THINK]", "[INST]", "<r>", "</r>"]})
    tokenizer.save_pretrained(folder)
    return folder


def test_a_local_model_keeps_the_marks_of_thoughts_and_no_other_control_token(thinking: Path) -> None:
    model = HfModel(thinking, "thinking", "r", "float32")
    ids = model.tokenizer("[THINK]Paris?[/THINK][INST]Rome</s>", add_special_tokens=False).input_ids
    assert model.decode(ids) == "[THINK]Paris?[/THINK]Rome"
    assert model.decode(ids[:5]) == "[THINK]Pari"
    own = HfModel(thinking, "thinking", "r", "float32", marks=("<r>", "</r>"))
    assert (
        own.decode(own.tokenizer("<r>Paris?</r>Rome", add_special_tokens=False).input_ids)
        == "<think>Paris?</think>Rome"
    )
    assert model.decode(own.tokenizer("<r>Paris?</r>Rome", add_special_tokens=False).input_ids) == "Paris?Rome"


def test_thoughts_that_a_template_begins_begin_the_output(thinking: Path) -> None:
    path = thinking / "chat_template.jinja"
    text = path.read_text()
    path.write_text(text.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}"))
    model = HfModel(thinking, "thinking", "r", "float32")
    path.write_text(text)
    assert model.template.render("x").endswith("<think>\n")
    (generation,) = model.generate(["x"], 3)
    assert generation.text.startswith("<think>") and generation.n_new_tokens == 3
    assert parse(NQ, generation.text) == Parsed(None, 0, truncated=True)
