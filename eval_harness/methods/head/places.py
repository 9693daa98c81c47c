"""Where the question and the passages of a prompt stand among its tokens."""

from typing import TYPE_CHECKING, NamedTuple

from builders.prompts import Prompt
from eval_harness.probing.spans import Span, token_spans

if TYPE_CHECKING:
    from eval_harness.models.template import Template


class Places(NamedTuple):
    """Spans of tokens; a question without tokens of its own is read from the last of the prompt."""

    question: Span
    passages: list[Span]


def places_of(template: "Template", prompt: Prompt, query: str) -> Places:
    """The tokens of a prompt's question and passages, from the characters that they come from."""
    characters = template.places(prompt.text)
    at = prompt.text.find(query, prompt.context_end)
    (question,) = token_spans(characters, [(at - 1, at + len(query))])  # a word's token may begin with the space before
    last = (len(characters) - 1, len(characters))
    return Places(question if question[1] > question[0] else last, token_spans(characters, prompt.spans))
