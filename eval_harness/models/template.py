"""How a prompt becomes the text and the tokens that a model is given: its chat template, applied once."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.tokens import plain_tokenizer
from eval_harness.models.limits import limit_of
from eval_harness.models.rendering import CLOCK, first_line, reads_clock, render, switches
from eval_harness.models.thoughts import Marks, opened
from eval_harness.models.tokenised import Tokenised

_TOKENIZER_FILES = ("tokenizer", "vocab", "spiece", "sentencepiece", "tekken")
_USER = "\x02user text\x03"
_SYSTEM = "\x02system text\x03"


class Template:
    """A tokenizer with its chat template, or with its own prefix where it has none.

    Special and added tokens whose text occurs in a prompt are read as plain text, so that the tokens of the template
    are the same whatever the prompt holds. `fields` are given to the template beside the messages. `opened` is the
    mark of thoughts that the template begins for the model, "" where it begins none.
    """

    def __init__(
        self,
        tokenizer: Any,
        name: str,
        system: str | None = None,
        fields: Mapping[str, Any] | None = None,
        marks: Marks | None = None,
    ) -> None:
        self.system = system
        self.fields = dict(fields or {})
        self._tokenizer = tokenizer
        self._added = _any_of(_added_tokens(tokenizer))
        if system and (found := self._added.search(system)):
            raise SetupError(f"the system text holds a special token of {name} ({found[0]}); take it out")
        _check_fields(tokenizer, name, self.fields)
        self._frame = _frame(tokenizer, name, system, self.fields)
        self._prefix = [] if self._frame else _prefix_of(tokenizer)
        self._plain = _Plain(tokenizer) if tokenizer.is_fast else None
        self.opened = opened(self._frame[1], marks) if self._frame else ""

    @property
    def is_chat(self) -> bool:
        """Whether there is a chat template."""
        return self._frame is not None

    def render(self, prompt: str) -> str:
        """The text that the model reads, special tokens included."""
        if self._frame is None:
            return f"{self._tokenizer.decode(self._prefix)}{prompt}"
        before, after = self._frame
        return f"{before}{prompt}{after}"

    def encode(self, prompt: str) -> list[int]:
        """Token ids of the prompt inside the template, or after the tokenizer's own prefix where there is none."""
        if isinstance(prompt, Tokenised) and prompt.by is self:
            return prompt.ids
        return self._read(prompt)[0]

    def tokenised(self, prompt: str) -> Tokenised:
        """A prompt with its tokens, and their places where the tokenizer says them."""
        return Tokenised.of(prompt, *self._read(prompt), self)

    def places(self, prompt: str) -> list[tuple[int, int]]:
        """The characters of `prompt` that each token of `encode` comes from, negative or past its end in the template.

        Half-open; tokens without a text of their own have none. SetupError if the tokenizer has no offsets.
        """
        known = prompt.places if isinstance(prompt, Tokenised) and prompt.by is self else None
        found = known if known is not None else self._read(prompt)[1]
        if found is None:
            raise SetupError("the tokenizer does not say where its tokens are in the text; use a fast one")
        return found

    def describe(self) -> dict[str, Any]:
        """The template's digest and fields, the day that it is told, the system text, and whether a BOS comes first."""
        chat_template = str(self._tokenizer.chat_template) if self.is_chat else None
        return {
            "chat_template_sha256": chat_template and sha256(chat_template.encode()).hexdigest(),
            "template_fields": self.fields,
            "template_date": str(CLOCK.date()) if self.is_chat and reads_clock(self._tokenizer) else None,
            "system": self.system,
            "starts_with_bos": self.encode("")[:1] == [self._tokenizer.bos_token_id],
        }

    def _read(self, prompt: str) -> tuple[list[int], list[tuple[int, int]] | None]:
        """Tokens, and their places where the tokenizer says them."""
        before, after = self._frame or ("", "")
        if self._plain is None:
            return self._prefix + self._in_pieces(before, after, prompt), None
        ids, places = self._plain.read(before, after, prompt)
        return self._prefix + ids, [(0, 0)] * len(self._prefix) + places

    def _in_pieces(self, before: str, after: str, prompt: str) -> list[int]:
        """Tokens by a tokenizer without a backend, given the text cut at the control tokens around the prompt."""
        start = max((found.end() for found in self._added.finditer(before)), default=0)
        found = self._added.search(after)
        end = found.start() if found else len(after)
        around = self._ids(before[:start]), self._ids(after[end:])
        return [*around[0], *self._ids(before[start:] + prompt + after[:end], split_special_tokens=True), *around[1]]

    def _ids(self, text: str, **options: bool) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, verbose=False, **options).input_ids
        return ids


class _Plain:
    """Reads a prompt inside a frame in one piece, by a tokenizer that finds the frame's control tokens alone."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer, self._names = plain_tokenizer(tokenizer.backend_tokenizer.to_str())
        self._known = _any_of(self._names)

    def read(self, before: str, after: str, prompt: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Tokens, and their places counted from where the prompt begins."""
        start, end = self._named(before), self._named(after)
        found = self._tokenizer.encode(start + prompt + end, add_special_tokens=False)
        return found.ids, [(first - len(start), last - len(start)) for first, last in found.offsets]

    def _named(self, text: str) -> str:
        return self._known.sub(lambda found: self._names[found[0]], text)


def load_tokenizer(folder: Path, name: str) -> Any:
    """The tokenizer in a model folder; SetupError if it cannot be loaded."""
    from transformers import AutoTokenizer

    if not any(path.name.startswith(_TOKENIZER_FILES) for path in folder.iterdir()):  # transformers would make one up
        raise SetupError(f"{name} has no tokenizer: {folder} lacks tokenizer.json; save the model's tokenizer there")
    try:
        return AutoTokenizer.from_pretrained(str(folder))
    except (OSError, ValueError) as error:
        raise SetupError(f"the tokenizer of {name} cannot be loaded: {first_line(error)}") from None


def load_config(folder: Path, name: str) -> Any:
    """The model's configuration; SetupError if it cannot be read."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(str(folder))
    except (OSError, ValueError) as error:
        raise SetupError(f"the configuration of {name} cannot be read: {first_line(error)}") from None


def position_limit(config: Any, tokenizer: Any) -> int:
    """The most tokens that a model takes, prompt and output together."""
    return limit_of(config, tokenizer).tokens


def _frame(tokenizer: Any, name: str, system: str | None, fields: Mapping[str, Any]) -> tuple[str, str] | None:
    """What the chat template puts before and after the user's text; None for a model without template.

    User text and system text are put in untrimmed; where the template makes something else of the system text, as of
    one that holds a switch, that is what comes before and after.
    """
    if not tokenizer.chat_template:
        if system is not None:
            raise SetupError(f"{name} has no chat template, so it has no system turn; leave --system out")
        return None
    before, after = _around(tokenizer, name, None if system is None else _SYSTEM, fields)
    if system is None:
        return before, after
    if before.count(_SYSTEM) != 1:
        raise SetupError(f"the chat template of {name} does not put a system turn in as it is; leave --system out")
    if system.strip() and _SYSTEM not in system:
        real = _around(tokenizer, name, system, fields)
        if real == _around(tokenizer, name, None, fields):
            raise SetupError(f"the chat template of {name} drops this system text; leave --system out")
        if real != (before.replace(_SYSTEM, system.strip()), after) and real != (
            before.replace(_SYSTEM, system),
            after,
        ):
            return real
    return before.replace(_SYSTEM, system), after


def _around(tokenizer: Any, name: str, system: str | None, fields: Mapping[str, Any]) -> tuple[str, str]:
    """What a template puts before and after the user's text; SetupError if the template changes it."""
    turns = [] if system is None else [{"role": "system", "content": system}]
    text = render(tokenizer, name, [*turns, {"role": "user", "content": _USER}], fields)
    before, found, after = text.partition(_USER)
    if not found or _USER in after:
        raise SetupError(f"the chat template of {name} does not put the user's text in once and as it is")
    return before, after


def _check_fields(tokenizer: Any, name: str, fields: Mapping[str, Any]) -> None:
    """Raises SetupError for fields that a template does not read."""
    if not fields:
        return
    if not tokenizer.chat_template:
        raise SetupError(f"{name} has no chat template, so --template-field does nothing; leave it out")
    known = {*switches(tokenizer), "date_string"}
    if unknown := sorted(fields.keys() - known):
        raise SetupError(
            f"--template-field {unknown[0]}: the chat template of {name} does not read it; "
            f"it reads {', '.join(switches(tokenizer)) or 'none'}"
        )


def _prefix_of(tokenizer: Any) -> list[int]:
    """The tokens that a tokenizer puts before a text; what it would put after it does not belong before an output."""
    read = tokenizer("a", return_special_tokens_mask=True, verbose=False)
    mask = read.special_tokens_mask
    before = read.input_ids[: mask.index(0)] if 0 in mask else read.input_ids
    return [id for id in before if id != tokenizer.eos_token_id or id == tokenizer.bos_token_id]


def _added_tokens(tokenizer: Any) -> set[str]:
    """Texts that the tokenizer would read as tokens of their own, special or not."""
    added = {token.content for token in tokenizer.added_tokens_decoder.values()} | {*tokenizer.all_special_tokens}
    return {content for content in added if content.strip()}


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """What finds any of the texts, the longest where several begin at one place."""
    return re.compile("|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text)))) or r"(?!)")
