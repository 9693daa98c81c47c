"""How a prompt becomes the text and the tokens that a model is given: its chat template, applied once."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from eval_harness.models.tokenised import Tokenised

_USER = "\x02user text\x03"
_SYSTEM = "\x02system text\x03"
_DATE = "26 Jul 2024"  # some templates write the day of the run, which no result may depend on


class Template:
    """A tokenizer with its chat template, or with its own prefix where it has none.

    Special tokens that stand in a prompt's text are read as plain text.
    """

    def __init__(self, tokenizer: Any, name: str, system: str | None = None) -> None:
        self.system = system
        self._tokenizer = tokenizer
        special = _special_tokens(tokenizer)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")
        if system and self._special.search(system):
            raise SetupError(f"the system text holds a special token of {name}; take it out")
        self._frame = _frame(tokenizer, name, system)

    @property
    def is_chat(self) -> bool:
        """Whether there is a chat template."""
        return self._frame is not None

    def render(self, prompt: str) -> str:
        """The text that the model reads, special tokens included."""
        if self._frame is None:
            return f"{self._tokenizer.decode(self.encode(''))}{prompt}"
        before, after = self._frame
        return f"{before}{prompt}{after}"

    def encode(self, prompt: str) -> list[int]:
        """Token ids of the prompt inside the template, or after the tokenizer's own prefix where there is none."""
        if isinstance(prompt, Tokenised) and prompt.by is self:
            return prompt.ids
        return [token for text, _, options in self._pieces(prompt) for token in self._ids(text, **options)]

    def tokenised(self, prompt: str) -> Tokenised:
        """A prompt with its tokens, and their places where the tokenizer says them."""
        if not self._tokenizer.is_fast:
            return Tokenised.of(prompt, self.encode(prompt), None, self)
        ids, places = self._read(prompt)
        return Tokenised.of(prompt, ids, places, self)

    def places(self, prompt: str) -> list[tuple[int, int]]:
        """The characters of `prompt` that each token of `encode` comes from, negative or past its end in the template.

        Half-open; tokens without a text of their own have none. SetupError where the tokenizer cannot say.
        """
        known = prompt.places if isinstance(prompt, Tokenised) and prompt.by is self else None
        return known if known is not None else self._read(prompt)[1]

    def _read(self, prompt: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Tokens and places together."""
        ids: list[int] = []
        places: list[tuple[int, int]] = []
        for text, shift, options in self._pieces(prompt):
            try:
                read = self._tokenizer(text, verbose=False, return_offsets_mapping=True, **options)
            except NotImplementedError:
                raise SetupError("the tokenizer does not say where its tokens stand; use a fast one") from None
            ids += read.input_ids
            places += [(start + shift, end + shift) for start, end in read.offset_mapping]
        return ids, places

    def _pieces(self, prompt: str) -> list[tuple[str, int, dict[str, bool]]]:
        """The texts to read one after another, each with what leads from its characters to the prompt's, and how."""
        if self._frame is None:
            return [(prompt, 0, {"add_special_tokens": True, "split_special_tokens": True})]
        before, after = self._frame
        plain, whole = {"add_special_tokens": False}, before + prompt + after
        if not self._special.search(prompt):
            return [(whole, -len(before), plain)]
        # Cut at the template's special tokens nearest to the text, where the tokenizer itself cuts.
        start = max((found.end() for found in self._special.finditer(before)), default=0)
        found = self._special.search(after)
        end = len(before) + len(prompt) + (found.start() if found else len(after))
        return [
            (whole[:start], -len(before), plain),
            (whole[start:end], start - len(before), plain | {"split_special_tokens": True}),
            (whole[end:], end - len(before), plain),
        ]

    def describe(self) -> dict[str, Any]:
        """The template's digest, the system text, and whether a begin-of-text token comes first."""
        chat_template = str(self._tokenizer.chat_template) if self.is_chat else None
        return {
            "chat_template_sha256": chat_template and sha256(chat_template.encode()).hexdigest(),
            "system": self.system,
            "starts_with_bos": self.encode("")[:1] == [self._tokenizer.bos_token_id],
        }

    def _ids(self, text: str, **options: bool) -> list[int]:
        ids: list[int] = self._tokenizer(text, verbose=False, **options).input_ids
        return ids


def load_tokenizer(folder: Path, name: str) -> Any:
    """The tokenizer in a model folder; SetupError where it cannot be loaded."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder))
    except (OSError, ValueError) as error:
        raise SetupError(f"the tokenizer of {name} cannot be loaded: {first_line(error)}") from None


def load_config(folder: Path, name: str) -> Any:
    """The model's configuration; SetupError where it cannot be read."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(str(folder))
    except (OSError, ValueError) as error:
        raise SetupError(f"the configuration of {name} cannot be read: {first_line(error)}") from None


def position_limit(config: Any, tokenizer: Any) -> int:
    """The smaller of the config's positions and the tokenizer's limit, which is about 1e30 where it is not set."""
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    return min(limit for limit in (positions, int(tokenizer.model_max_length)) if limit)


def first_line(error: Exception) -> str:
    """The beginning of a library's message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _frame(tokenizer: Any, name: str, system: str | None) -> tuple[str, str] | None:
    """What the chat template puts before and after the user's text, untrimmed; None for a model without template."""
    if not tokenizer.chat_template:
        if system is not None:
            raise SetupError(f"{name} has no chat template, so it has no system turn; leave --system out")
        return None
    before, found, after = _rendered(tokenizer, name, system is not None).partition(_USER)
    if not found or _USER in after:
        raise SetupError(f"the chat template of {name} does not put the user's text in once and as it is")
    if system is not None and before.count(_SYSTEM) != 1:
        raise SetupError(f"the chat template of {name} does not put a system turn in as it is; leave --system out")
    return before.replace(_SYSTEM, system or ""), after


def _rendered(tokenizer: Any, name: str, has_system: bool) -> str:
    from jinja2 import TemplateError

    turns = [{"role": "system", "content": _SYSTEM}] if has_system else []
    turns.append({"role": "user", "content": _USER})
    try:
        text: str = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, date_string=_DATE)
    except TemplateError as error:
        hint = "; leave --system out" if has_system else ""
        raise SetupError(f"the chat template of {name} refuses its turns ({first_line(error)}){hint}") from None
    return text


def _special_tokens(tokenizer: Any) -> list[str]:
    """Texts that the tokenizer would read as control tokens, longest first."""
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    return sorted({*tokenizer.all_special_tokens, *added}, key=lambda token: (-len(token), token))
