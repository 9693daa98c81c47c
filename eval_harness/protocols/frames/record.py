"""The record of a FRAMES run."""

from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.typed import Open
from eval_harness.protocols.records import record_of

PROTOCOL = "frames"
MULTISTEP = "multistep"  # key of the facts about multi-step methods


class _Facts(Open):
    rounds: int


class _Articles(Open):
    n_articles: int


class _Record(Open):
    multistep: dict[str, _Facts] | None = None
    articles: _Articles | None = None
    source: str | None = None
    index: str | None = None


def run_record(run: Path) -> dict[str, Any]:
    """The record of a FRAMES run; SetupError if the folder is not such a run, or is one of an earlier version."""
    record = record_of(run, PROTOCOL, _Record)
    if record.get(MULTISTEP) is None:
        raise SetupError(
            f"{run} was written by an earlier version, whose methods have other names; rerun icr2 frames run with "
            "another --out"
        )
    return record


def rounds_of(record: dict[str, Any]) -> dict[str, int]:
    """The number of rounds of each multi-step method in a run's record."""
    return {method: facts["rounds"] for method, facts in record[MULTISTEP].items()}


def searched_of(record: dict[str, Any]) -> str | None:
    """The size and source of the articles that were searched, in words; None where the record does not say."""
    if not (articles := record.get("articles")):
        return None
    source = record.get("source") or "the contexts of the config"
    return f"{articles['n_articles']:,} articles of {source}, by {record.get('index')}"
