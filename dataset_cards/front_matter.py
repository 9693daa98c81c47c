"""The YAML head of a dataset card, read and written by huggingface_hub."""

from collections.abc import Mapping
from typing import Any


def head_of(card: str) -> dict[str, Any]:
    """The YAML head of a card as a mapping, empty where there is none."""
    from huggingface_hub import DatasetCard
    from huggingface_hub.repocard import REGEX_YAML_BLOCK

    card = card.removeprefix("\ufeff")
    if not REGEX_YAML_BLOCK.search(card):  # DatasetCard would log a warning
        return {}
    try:
        head: dict[str, Any] = DatasetCard(card).data.to_dict()
    except ValueError:  # YAML, but not a mapping
        return {}
    return head


def with_fields(card: str, fields: Mapping[str, Any]) -> str:
    """A card with some fields of its head replaced in place; new ones are appended."""
    from huggingface_hub import DatasetCard

    changed = DatasetCard(card)
    for name, value in fields.items():
        changed.data[name] = value
    return str(changed)
