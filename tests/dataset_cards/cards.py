"""Cards as tests read and write them: a YAML head and a text."""

from typing import Any

import yaml


def split_card(card: str) -> tuple[dict[str, Any], str]:
    """Head and text of a card that has both."""
    _, head, text = card.split("---\n", 2)
    return yaml.safe_load(head), text


def join_card(head: dict[str, Any], text: str) -> str:
    """A card of a head and a text."""
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n{text}"
