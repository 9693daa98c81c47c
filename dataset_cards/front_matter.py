"""The YAML head of a dataset card."""

import re
from typing import Any

import yaml

_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.M | re.S)


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """The YAML head of a card as a mapping (empty where there is none), and the text after it."""
    match = _HEAD.match(text)
    head = yaml.safe_load(match[1]) if match else None
    return (head if isinstance(head, dict) else {}), text[match.end() :] if match else text


def join_card(head: dict[str, Any], body: str) -> str:
    """A card of a YAML head and a text."""
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{body}"
