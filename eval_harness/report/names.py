"""What a config's name says, and the order in which configs are shown."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from builders.config import tokens_of

_CONFIG = re.compile(r"(?:(?P<family>[a-z]+)_)?(?P<length>[0-9]+[km]?)(?:_p(?P<ratio>[0-9]+))?")


class Parts(NamedTuple):
    """A config's family ("" for the ones with a ratio), length label, tokens, and confounding ratio in percent."""

    family: str
    length: str
    tokens: int
    ratio: int | None


def parts_of(config: str) -> Parts:
    """The parts of `4k_p75`, `loft_32k` or the like; any other name is a family of its own without a length."""
    match = _CONFIG.fullmatch(config)
    if match is None:
        return Parts(config, "", 0, None)
    ratio = None if match["ratio"] is None else int(match["ratio"])
    return Parts(match["family"] or "", match["length"], tokens_of(match["length"]), ratio)


def in_order(configs: Iterable[str]) -> list[str]:
    """Configs with a ratio by length and ratio, then the others by family and length."""

    def key(config: str) -> tuple[bool, str, int, int, str]:
        family, _, tokens, ratio = parts_of(config)
        return ratio is None, family, tokens, ratio or 0, config

    return sorted(set(configs), key=key)


def listed(configs: Iterable[str]) -> str:
    """Configs as one short text."""
    names = in_order(configs)
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} … {names[-1]} ({len(names)} configs)"
