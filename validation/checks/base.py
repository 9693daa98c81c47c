"""The definition of a check."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from validation.measures import Measures

Severity = Literal["error", "warning"]
Unit = Literal["instance", "split", "file"]


@dataclass(frozen=True)
class Check:
    """One rule for a dataset.

    `find` returns SQL of the violations: for the unit `instance` the columns row, pid, detail; for `split` and `file`
    config, split, id, pid, detail. `applies` is a condition on `instances`: the rule covers only these rows.
    """

    name: str
    says: str  # what is checked
    why: str  # what a failure means to a user
    severity: Severity
    unit: Unit
    find: Callable[[Measures], str]
    applies: str = "true"
