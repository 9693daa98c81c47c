"""What a config's name says."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from builders.config import tokens_of

_CONFIG = re.compile(r"(?:(?P<family>[a-z]+)_)?(?P<length>[0-9]+[km]?|full)(?:_p(?P<ratio>[0-9]+))?")


class Parts(NamedTuple):
    """The length of a config's contexts, its confounding ratio in per cent, and the family of configs without one.

    The family is empty where there is a ratio, `loft` where it is LOFT-style, and else the kind of a made dataset.
    """

    length: str
    ratio: int | None
    family: str = ""


def parts_of(config: str) -> Parts:
    """The parts of `{length}_p{ratio}`, `loft_{length}` or `{kind}_{length}`."""
    match = _CONFIG.fullmatch(config)
    if match is None:
        return Parts(config, None)
    return Parts(match["length"], int(match["ratio"]) if match["ratio"] else None, match["family"] or "")


def in_order(configs: Iterable[str]) -> list[str]:
    """Config names by length, then ratio; the families without ratios after them, each by length, `full` first."""

    def key(config: str) -> tuple[bool, str, int, int]:
        length, ratio, family = parts_of(config)
        return ratio is None, family, 0 if length == "full" else tokens_of(length), ratio or 0

    return sorted(configs, key=key)
