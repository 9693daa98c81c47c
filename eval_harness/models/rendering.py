"""Chat templates rendered: with the fields that a user gives, and a clock that always says the same day."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from builders.errors import SetupError

CLOCK = datetime(2024, 7, 26)  # some templates write the day of the run, which no result may depend on
_GIVEN = {"messages", "tools", "documents", "add_generation_prompt", "date_string"}


def render(
    tokenizer: Any, name: str, turns: Sequence[Mapping[str, str]], fields: Mapping[str, Any], *, answering: bool = True
) -> str:
    """The text of a conversation under a tokenizer's chat template; where `answering`, up to the model's next words.

    SetupError, which names the model, where the template refuses the turns or the fields.
    """
    from jinja2 import TemplateError

    given = {"date_string": CLOCK.strftime("%d %b %Y"), **fields}
    try:
        with _fixed_clock(tokenizer):
            text: str = tokenizer.apply_chat_template(
                [*turns], tokenize=False, add_generation_prompt=answering, **given
            )
    except (TemplateError, TypeError, ValueError) as error:
        hint = "; leave --system out" if turns[0]["role"] == "system" else ""
        raise SetupError(f"the chat template of {name} refuses its turns ({first_line(error)}){hint}") from None
    return text


def switches(tokenizer: Any) -> list[str]:
    """The fields beside the messages that a chat template reads, sorted; `--template-field` sets them."""
    from jinja2 import meta, nodes

    source = tokenizer.get_chat_template()
    parsed = _compiled(source).environment.parse(source)
    asked = [test.node for test in parsed.find_all(nodes.Test) if test.name in ("defined", "undefined", "none")]
    asked += [found.node for found in parsed.find_all(nodes.Filter) if found.name in ("default", "d")]
    own = {name.name for name in parsed.find_all(nodes.Name) if name.ctx == "store"}
    own -= {node.name for node in asked if isinstance(node, nodes.Name)}  # these get a default where they are not given
    return sorted(meta.find_undeclared_variables(parsed) - _GIVEN - own - {*tokenizer.special_tokens_map})


def reads_clock(tokenizer: Any) -> bool:
    """Whether a chat template asks for the day."""
    source = tokenizer.get_chat_template()
    return "strftime_now" in source or "date_string" in source


def first_line(error: Exception) -> str:
    """The beginning of a library's message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def _fixed_clock(tokenizer: Any) -> Iterator[None]:
    """Gives a template the fixed day for the time of now; transformers has no argument for it."""
    known = _compiled(tokenizer.get_chat_template()).globals
    known["strftime_now"] = CLOCK.strftime
    try:
        yield
    finally:
        del known["strftime_now"]


def _compiled(source: str) -> Any:
    from transformers.utils.chat_template_utils import _compile_jinja_template

    return _compile_jinja_template(source)
