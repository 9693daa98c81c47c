"""What ends an output, and that nothing ends a prompt."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_harness.models.hf import HfModel
from eval_harness.models.stops import end_of_output, stop_ids, turn_end
from eval_harness.models.template import Template, load_config, load_tokenizer
from tests.eval_harness.conftest import SPECIAL, save_model


def with_tokens(folder: Path, template: str | None, *tokens: str) -> Any:
    tokenizer = load_tokenizer(save_model(folder, chat=template is not None), "m")
    tokenizer.add_special_tokens({"additional_special_tokens": [*SPECIAL, *tokens]})
    tokenizer.chat_template = template
    return tokenizer


def test_both_configuration_files_say_what_ends_an_output(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "m", chat=False)
    for name, ids in (("config.json", [1, 7]), ("generation_config.json", [9])):
        fields = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**fields, "eos_token_id": ids}))
    model = HfModel(folder, "m", "r", "float32")
    assert model.stops == [1, 7, 9]
    assert model.describe()["stops"] == model.tokenizer.convert_ids_to_tokens([1, 7, 9])


@pytest.mark.parametrize(
    ("after", "ends"),
    [
        ("<|end|>\n", "<|end|>"),
        ("\n<|end|>", "<|end|>"),
        ("<|END_RESPONSE|><|end|>", "<|END_RESPONSE|>"),
        ("{{ eos_token }}", "</s>"),
        ("\n### User:", None),
        ("", None),
    ],
)
def test_the_template_says_what_ends_a_turn(tmp_path: Path, after: str, ends: str | None) -> None:
    turns = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}AFTER{% endfor %}".replace("AFTER", after)
    tokenizer = with_tokens(tmp_path / "m", turns, "<|end|>", "<|END_RESPONSE|>")
    found = turn_end(tokenizer, "m")
    assert (None if found is None else tokenizer.convert_ids_to_tokens(found)) == ends
    config = load_config(tmp_path / "m", "m")
    assert {found} - {None} <= {*stop_ids(tokenizer, "m", config, config)}
    learned = tokenizer.convert_ids_to_tokens(end_of_output(tokenizer, "m"))
    assert learned == (ends or "</s>")  # training teaches what local models stop at


def test_a_template_that_takes_no_assistant_turn_has_no_end_of_it(tmp_path: Path) -> None:
    refusing = "{% for m in messages %}{% if m.role != 'user' %}{{ raise_exception('no') }}{% endif %}{% endfor %}"
    assert turn_end(with_tokens(tmp_path / "m", refusing), "m") is None


@pytest.mark.parametrize("single", ["<s> $A </s>", "<s> $A", "$A </s>", "$A"])
def test_no_end_of_text_stands_before_the_output_of_a_base_model(tmp_path: Path, single: str) -> None:
    """What is shown is what is sent."""
    from tokenizers import processors

    tokenizer = with_tokens(tmp_path / "m", None)
    special = [("<s>", 0), ("</s>", 1)]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single, special_tokens=special)
    template = Template(tokenizer, "m")
    ids = template.encode("hi </s>")
    assert (ids[:1] == [0]) == ("<s>" in single)
    assert 1 not in ids
    assert tokenizer.decode(ids) == template.render("hi </s>") == ("<s>" if "<s>" in single else "") + "hi </s>"
