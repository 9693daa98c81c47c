"""Every split has rows: an empty one would pass any other check."""

from collections import Counter

import pyarrow.parquet as pq
from pyarrow import ArrowException

from validation.checks.base import Check
from validation.measures import Measures


def _find(m: Measures) -> str:
    rows: Counter[tuple[str, str]] = Counter()
    for file in m.dataset.files:
        try:
            rows[file.config, file.split] += pq.read_metadata(m.dataset.folder / file.path).num_rows
        except (ArrowException, OSError):
            continue
    empty = [group for group in m.dataset.groups() if not rows[group]]
    return m.found("rows", [(config, split, None, None, "has no rows") for config, split in empty])


CHECK = Check(
    name="rows",
    says="every split of every config has at least one row",
    why="an empty split measures nothing, and every other check would pass it",
    severity="error",
    unit="split",
    find=_find,
)
