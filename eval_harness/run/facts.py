"""Facts about configs in a run's record."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from builders.manifest import Config


class ConfigFacts(NamedTuple):
    """A config as its dataset describes it; length and ratio are None if it has none.

    `length` is the label (`4k`), `tokens` its number; `ratio` is in percent, `budget` the prompt's token budget.
    """

    family: str
    length: str | None = None
    tokens: int | None = None
    ratio: int | None = None
    budget: int | None = None

    @property
    def line(self) -> tuple[str, int | None]:
        """Family and ratio: what configs of one line over lengths share."""
        return self.family, self.ratio


Configs = Mapping[str, ConfigFacts]


def facts_of(config: Config) -> ConfigFacts:
    """The facts of a config from its dataset's manifest."""
    return ConfigFacts(**{name: getattr(config, name) for name in ConfigFacts._fields})


def configs_of(record: Mapping[str, Any]) -> dict[str, ConfigFacts]:
    """The configs in a run's record."""
    return {
        name: ConfigFacts(**{key: facts.get(key) for key in ConfigFacts._fields})
        for name, facts in record["configs"].items()
    }


def in_order(names: Iterable[str], configs: Configs) -> list[str]:
    """Configs sorted: those with a ratio by length and ratio, then the others by family and length."""

    def key(name: str) -> tuple[bool, str, int, int, str]:
        facts = configs[name]
        family = facts.family if facts.ratio is None else ""
        return facts.ratio is None, family, facts.tokens or 0, facts.ratio or 0, name

    return sorted(set(names), key=key)
