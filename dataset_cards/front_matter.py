"""The YAML head of a dataset card: read as typed values, written by huggingface_hub."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from builders.errors import SetupError, shown
from builders.records import Facts, Label
from builders.typed import typed

MOST = 2**20  # bytes of a head, and values in it
_HEAD = re.compile(r"\A\s*---\s*\r?\n(.*?\r?\n)?---[ \t]*(?:\r?\n|\Z)", re.DOTALL)

Paths = str | list[str]


class DataFiles(Facts):
    """The files of a split."""

    split: Label = "train"
    path: Paths


class ConfigEntry(Facts):
    """A config of a card; its files may be patterns or, on the Hub, a list of paths without splits."""

    config_name: Label
    data_files: str | DataFiles | list[str | DataFiles] | None = None


class InfoEntry(Facts):
    """What a card says of a config's features and sizes."""

    config_name: Label = "default"
    features: list[dict[str, Any]] | None = None
    splits: list[dict[str, Any]] | None = None


class Head(Facts):
    """The fields of a head that we read."""

    configs: list[ConfigEntry] | None = None
    dataset_info: InfoEntry | list[InfoEntry] | None = None
    version: Any = None


class _Loader(yaml.SafeLoader):
    """Without keys that occur twice, and without aliases that make a small text large."""

    def get_single_node(self) -> Any:
        """The document; YAMLError where its aliases are too many or lead in a circle."""
        node = super().get_single_node()
        if node is not None and _parts(node, {}) > MOST:
            raise yaml.YAMLError(f"its aliases stand for more than {MOST:,} values")
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """A mapping; YAMLError where a key occurs twice."""
        found = super().construct_mapping(node, deep)
        if isinstance(node, yaml.MappingNode) and len(found) < len(node.value):
            raise yaml.YAMLError(f"a key occurs twice among {shown(', '.join(map(str, found)))[1:-1]}")
        return found


def _parts(node: yaml.Node, known: dict[int, float]) -> float:
    """How many values a node stands for; infinite in a circle."""
    if id(node) not in known:
        known[id(node)] = float("inf")
        inner = node.value if isinstance(node.value, list) else ()
        parts = [part for one in inner for part in (one if isinstance(one, tuple) else (one,))]
        known[id(node)] = 1 + sum(_parts(part, known) for part in parts)
    return known[id(node)]


def head_of(card: str, where: str = "the card", again: str = "write it again") -> dict[str, Any]:
    """The YAML head of a card as a mapping, empty without one; SetupError names the field that we cannot read."""
    found = _HEAD.match(card.removeprefix("\ufeff"))
    if not found or not (text := found[1] or "").strip():
        return {}
    try:
        if len(text.encode()) > MOST:
            raise yaml.YAMLError(f"longer than {MOST:,} bytes")
        head = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else shown(" ".join(str(error).split()))[1:-1]
        raise SetupError(f"{where}: its YAML does not parse ({reason}); {again}") from None
    if not isinstance(head, dict):
        return {}  # YAML, but not a mapping: the text begins with a rule
    if odd := [key for key in head if not isinstance(key, str)]:
        raise SetupError(f"{where}: found the field {shown(odd[0])}, wanted a text; {again}")
    typed(head, Head, where, again)
    return head


def entries(value: Any) -> list[dict[str, Any]]:
    """A field of a head that is one mapping or a list of them, as a list."""
    return [value] if isinstance(value, dict) else list(value or [])


def with_fields(card: str, fields: Mapping[str, Any]) -> str:
    """A card with some fields of its head replaced in place; new ones are appended."""
    from huggingface_hub import DatasetCard

    changed = DatasetCard(card)
    for name, value in fields.items():
        changed.data[name] = value
    return str(changed)
