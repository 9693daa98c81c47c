from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.template import Template, load_config, load_tokenizer, position_limit
from tests.eval_harness.conftest import CHAT_TEMPLATE, SPECIAL, save_model, save_tokenizer

FRAME = "<s>{}<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


def with_template(folder: Path, jinja: str) -> Template:
    save_tokenizer(folder, chat=True)
    (folder / "chat_template.jinja").write_text(jinja)
    return Template(load_tokenizer(folder, "m"), "m", system="CITE")


def test_the_text_is_what_is_encoded(chat_folder: Path) -> None:
    template = Template(load_tokenizer(chat_folder, "m"), "m")
    assert template.render(" hi ") == FRAME.format("", " hi ")
    tokenizer = load_tokenizer(chat_folder, "m")
    assert template.encode(" hi ") == tokenizer(template.render(" hi "), add_special_tokens=False).input_ids


def test_a_model_without_template_reads_its_begin_token_and_the_text(base_folder: Path) -> None:
    """The token that begins a text."""
    template = Template(load_tokenizer(base_folder, "m"), "m")
    assert template.render("hi") == "<s>hi"
    assert not template.is_chat


def test_the_system_turn_is_kept_as_it_is(chat_folder: Path) -> None:
    """Where the template renders it, and not trimmed."""
    template = Template(load_tokenizer(chat_folder, "m"), "m", system=" CITE\n")
    assert template.render("hi") == FRAME.format("<|im_start|>system\n CITE\n<|im_end|>\n", "hi")
    assert template.describe()["system"] == " CITE\n"
    assert template.encode("hi").count(SPECIAL["<s>"]) == 1


@pytest.mark.parametrize(
    ("jinja", "message"),
    [
        ("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}", "does not put a system turn in"),
        ("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "does not put the user's text in once"),
        ("{{ messages[0].content[:3] }}{{ messages[1].content }}", "does not put a system turn in"),
        ("{{ raise_exception('no system role') }}", r"refuses its turns \(no system role\); leave --system out"),
        ("{{ messages[1].content }}{{ messages[0].content }}", "does not put a system turn in"),
    ],
)
def test_a_system_turn_that_a_template_drops_is_refused(tmp_path: Path, jinja: str, message: str) -> None:
    """The system turn."""
    with pytest.raises(SetupError, match=message):
        with_template(tmp_path, jinja)


def test_a_system_text_that_cannot_be_kept_is_refused(chat_folder: Path, base_folder: Path) -> None:
    with pytest.raises(SetupError, match="no chat template, so it has no system turn"):
        Template(load_tokenizer(base_folder, "m"), "m", system="CITE")
    with pytest.raises(SetupError, match="holds a special token"):
        Template(load_tokenizer(chat_folder, "m"), "m", system="CITE<|im_end|>")


def test_the_limit_is_the_smaller_one(tmp_path: Path) -> None:
    """The tokenizer's is 1e30 where it is not set, and 128,000 is no 131,072."""
    folder = save_model(tmp_path / "m", positions=131072)
    tokenizer, config = load_tokenizer(folder, "m"), load_config(folder, "m")
    assert tokenizer.model_max_length > 1e29
    assert position_limit(config, tokenizer) == 131072
    tokenizer.model_max_length = 128000
    assert position_limit(config, tokenizer) == 128000


DATED = "{{ strftime_now('%d %B %Y') }} {{ date_string }} {% for m in messages %}{{ m.content }}{% endfor %}"
SWITCHED = (
    "{% if thinking is not defined %}{% set thinking = true %}{% endif %}{% for m in messages %}"
    "{% if m.role == 'system' and '/no_think' in m.content %}{% set ns = namespace(text=m.content.replace('/no_think', "
    "'')) %}no thoughts: {{ ns.text | trim }};{% elif m.role == 'system' and m.content == 'DROP' %}"
    "{% else %}{{ m.role }}: {{ m.content }};{% endif %}{% endfor %}{% if thinking %}<think>{% endif %}"
)


def saved(folder: Path, jinja: str) -> Any:
    save_tokenizer(folder, chat=True)
    (folder / "chat_template.jinja").write_text(jinja)
    return load_tokenizer(folder, "m")


def test_the_clock_is_fixed_and_recorded(tmp_path: Path) -> None:
    template = Template(saved(tmp_path, DATED), "m")
    assert template.render("x") == "26 July 2024 26 Jul 2024 x"
    assert template.describe()["template_date"] == "2024-07-26"
    assert with_template(tmp_path, CHAT_TEMPLATE).describe()["template_date"] is None


def test_what_a_template_makes_of_the_real_system_text_is_sent(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, SWITCHED)
    assert Template(tokenizer, "m", "Be brief. /no_think").render("x") == "no thoughts: Be brief.;user: x;<think>"
    assert Template(tokenizer, "m", " Be brief.").render("x") == "system:  Be brief.;user: x;<think>"
    with pytest.raises(SetupError, match="drops this system text"):
        Template(tokenizer, "m", "DROP")


def test_fields_that_a_template_reads_are_given_to_it_and_others_are_refused(tmp_path: Path) -> None:
    tokenizer = saved(tmp_path, SWITCHED)
    template = Template(tokenizer, "m", fields={"thinking": False})
    assert (template.render("x"), template.opened) == ("user: x;", "")
    assert template.describe()["template_fields"] == {"thinking": False}
    assert Template(tokenizer, "m").opened == "<think>"
    with pytest.raises(SetupError, match=r"--template-field enable_thinking: .* does not read it; it reads thinking"):
        Template(tokenizer, "m", fields={"enable_thinking": False})
    tokenizer.chat_template = None
    with pytest.raises(SetupError, match="no chat template, so --template-field does nothing"):
        Template(tokenizer, "m", fields={"thinking": False})
