"""Known and explained warnings, by dataset; the list may only shrink."""

from functools import lru_cache
from pathlib import Path

import yaml


@lru_cache(1)
def _all() -> dict[str, dict[str, int]]:
    return yaml.safe_load((Path(__file__).parent / "known_issues.yaml").read_text(encoding="utf-8")) or {}


def known_issues(dataset: str) -> dict[str, int]:
    """How many units of a dataset may fail each check of severity warning."""
    return _all().get(dataset, {})
