"""What a check is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from validation.measures import Measures

Severity = Literal["error", "warning"]
Unit = Literal["instance", "split", "file"]


@dataclass(frozen=True)
class Check:
    """One rule for a dataset.

    `find` returns SQL of what breaks it: for the unit `instance` the columns row, pid, detail; for `split` and `file`
    config, split, id, pid, detail. `applies` is a condition on `instances`: elsewhere the rule has nothing to say.
    """

    name: str
    says: str  # what holds where the check passes
    why: str  # what it means to a user where it does not
    severity: Severity
    unit: Unit
    find: Callable[[Measures], str]
    applies: str = "true"
