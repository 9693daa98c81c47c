"""What runs have not answered yet: planned results that are not there, by model, config and method."""

from typing import NamedTuple

from eval_harness.report.parts import Section
from eval_harness.report.study import Study


class Missing(NamedTuple):
    """A config and method of a model with fewer results than its runs planned."""

    model: str
    config: str
    method: str
    found: int
    planned: int


def missing(study: Study) -> list[Missing]:
    """What is missing, by model, config and method; nothing of runs that do not say what they planned."""
    found = []
    for label, planned in study.planned.items():
        counts: dict[tuple[str, str], int] = {}
        for row in study.rows[label]:
            counts[row.config, row.method] = counts.get((row.config, row.method), 0) + 1
        for (config, method), wanted in planned.items():
            if (there := counts.get((config, method), 0)) < wanted:
                found.append(Missing(label, config, method, there, wanted))
    return found


def missing_section(study: Study) -> Section:
    """The table of what is missing; without rows where nothing is."""
    rows = [[*one[:3], f"{one.found:,}", f"{one.planned:,}"] for one in missing(study)]
    notes = [
        "A run was stopped before it was finished: scores below are over the results that are there, and methods "
        "without results are not in the tables. Rerun the same icr2 eval command to resume."
    ]
    return Section("missing", "Missing results", notes, ["model", "config", "method", "results", "planned"], rows, 3)
