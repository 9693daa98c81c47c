"""What a config's name says."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from builders.config import tokens_of

_ICR2 = re.compile(r"(?P<length>[0-9]+[km]?)_p(?P<ratio>[0-9]+)")


class Parts(NamedTuple):
    """The length of a config's contexts and its confounding ratio in per cent, None where it is LOFT-style."""

    length: str
    ratio: int | None


def parts_of(config: str) -> Parts:
    """The parts of `{length}_p{ratio}` or `loft_{length}`."""
    match = _ICR2.fullmatch(config)
    return Parts(match["length"], int(match["ratio"])) if match else Parts(config.removeprefix("loft_"), None)


def in_order(configs: Iterable[str]) -> list[str]:
    """Config names by length, then ratio; LOFT-style ones after the others."""

    def key(config: str) -> tuple[bool, int, int]:
        parts = parts_of(config)
        return parts.ratio is None, tokens_of(parts.length), parts.ratio or 0

    return sorted(configs, key=key)
