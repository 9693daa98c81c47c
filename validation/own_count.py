"""Counts tokens by a path of its own, with the text of every control token in data read as plain text.

The builder's counter renames control tokens; this one takes them out of the tokenizer, so that a bug in one of both
shows as a difference.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from builders.errors import SetupError
from builders.tokens import tokenizer_json

_NONE = "\ufdd0"  # a noncharacter, which no text has


class OwnCounter:
    """Counts tokens of data with one named tokenizer; `tags` are the texts of its control tokens."""

    def __init__(self, name: str) -> None:
        content = tokenizer_json(name)
        self.sha256 = sha256(content).hexdigest()
        try:
            self._read(json.loads(content))
        except Exception as error:  # the library raises bare Exception on a broken file
            raise SetupError(f"tokenizer {name} cannot be read: {error}") from None

    def _read(self, fields: dict[str, Any]) -> None:
        from tokenizers import Tokenizer

        added = fields.pop("added_tokens", None) or []
        self.tags = sorted({token["content"] for token in added if re.search(r"[^\s\u2581]", token["content"])})
        fields |= {"added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
        model = fields["model"]
        _take_out(model, {*self.tags})
        self._tokenizer = Tokenizer.from_str(json.dumps(fields))
        self._tokenizer.add_tokens([_added(token) for token in added if token["content"] not in {*self.tags}])
        self._beginnings = re.compile("|".join(map(re.escape, sorted({tag[:2] for tag in self.tags}))) or r"(?!)")

    def count(self, text: str) -> int:
        """Tokens in one text."""
        return self.count_all([text])[0]

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens in each text."""
        return [len(found) for found in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def has_tag(self, texts: Iterable[str]) -> bool:
        """Whether the text of a control token occurs in one of the texts."""
        return any(self._beginnings.search(text) and any(tag in text for tag in self.tags) for text in texts)


@lru_cache(maxsize=2)
def own_counter(name: str) -> OwnCounter:
    """This process's counter with one named tokenizer."""
    return OwnCounter(name)


def _take_out(model: dict[str, Any], tags: set[str]) -> None:
    """Makes tokens of a model's vocabulary such that no text has them; they keep their ids."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        model["vocab"] = [[_NONE + piece if piece in tags else piece, score] for piece, score in vocabulary]
    else:
        model["vocab"] = {_NONE + token if token in tags else token: id for token, id in vocabulary.items()}
    if model.get("unk_token") in tags:
        model["unk_token"] = _NONE + model["unk_token"]
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model.get("merges") or ()]
    if pairs:
        model["merges"] = [[a, b] for a, b in pairs if a + b not in tags and a not in tags and b not in tags]


def _added(token: dict[str, Any]) -> Any:
    from tokenizers import AddedToken

    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return AddedToken(token["content"], **{flag: token[flag] for flag in flags if flag in token})
