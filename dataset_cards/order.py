"""The display order of configs."""

from collections.abc import Mapping

from builders.manifest import Config


def in_order(configs: Mapping[str, Config]) -> list[str]:
    """Config names by length, then ratio; families without ratios follow, each by length."""

    def key(name: str) -> tuple[bool, str, int, int]:
        config = configs[name]
        without = config.ratio is None
        return without, config.family if without else "", config.tokens or 0, config.ratio or 0

    return sorted(configs, key=key)
