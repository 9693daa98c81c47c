"""Runs checks over a dataset: findings become counts per unit, which Great Expectations expects to be zero."""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from builders.errors import SetupError
from validation.checks import CHECKS
from validation.checks.base import Check, Unit
from validation.checks.schema import difference
from validation.dataset import Dataset
from validation.measures import MEMORY, Measures, measured

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 100  # failing ids of a check in a report

Progress = Callable[[str], None]


@dataclass
class Outcome:
    """The outcome of one check: `failing` of `examined` units, and the first findings in `ids`."""

    check: Check
    status: str  # passed, failed or skipped
    examined: int = 0
    failing: int = 0
    ids: list[dict[str, Any]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


def chosen_checks(only: Sequence[str], skip: Sequence[str]) -> list[str]:
    """The names of the checks to run, in order; SetupError for an unknown name."""
    if unknown := sorted({*only, *skip} - set(CHECKS)):
        raise SetupError(f"no check {', '.join(unknown)}; there are {', '.join(CHECKS)}")
    return [name for name in CHECKS if (not only or name in only) and name not in skip]


def run_suite(dataset: Dataset, names: Sequence[str], progress: Progress, memory: str = MEMORY) -> list[Outcome]:
    """The outcome of every check; checks that are not named are skipped. `memory` is what the database may take.

    SetupError names a check that needs more.
    """
    wanted = dataset.manifest.schema
    differences = {file.path: difference(dataset.folder / file.path, wanted) for file in dataset.files}
    unreadable = {path: why for path, why in differences.items() if why}
    checks = [_check(name) for name in names]
    with measured(dataset, unreadable, progress, memory) as measures:
        measures.connection.execute(_FOUND)
        for check in checks:
            progress(check.name)
            measures.doing = f"check {check.name}"
            _collect(measures, check)
        progress("expectations")
        outcomes = {check.name: Outcome(check, "passed") for check in checks}
        gx = _great_expectations()
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        frames = context.data_sources.add_pandas("measures")
        for unit, table in _tables(measures, checks).items():
            batch = frames.add_dataframe_asset(unit).add_batch_definition_whole_dataframe("all")
            suite = _expectations(gx, unit, [check for check in checks if check.unit == unit])
            _judge(batch.get_batch({"dataframe": table}).validate(suite, result_format="BASIC"), outcomes)
        for outcome in outcomes.values():
            outcome.ids = _first(measures, outcome.check)
            outcome.figures = measures.figures.get(outcome.check.name, {})
    return [outcomes.get(name) or Outcome(_check(name), "skipped") for name in CHECKS]


def _check(name: str) -> Check:
    """A check, with the name that it is registered under."""
    return replace(CHECKS[name], name=name)


_FOUND = """
CREATE TABLE found (
    "check" VARCHAR, "row" BIGINT, config VARCHAR, split VARCHAR, id VARCHAR, pid VARCHAR, detail VARCHAR)
"""


def _collect(m: Measures, check: Check) -> None:
    query = check.find(m)
    if check.unit == "instance":
        query = f"""SELECT "row", config, split, id, f.pid, f.detail FROM ({query}) f JOIN instances USING ("row")
                WHERE {check.applies}"""
    else:
        query = f"SELECT NULL, config, split, id, pid, detail FROM ({query})"
    m.connection.execute(f"INSERT INTO found SELECT ?, * FROM ({query})", [check.name])


def _tables(m: Measures, checks: Sequence[Check]) -> dict[Unit, "pd.DataFrame"]:
    """For each unit, a table with a line per instance, split or file, and its number of findings for each check."""
    import pandas as pd

    instances = m.connection.execute('SELECT config, split, id FROM instances ORDER BY "row"').df()
    groups = pd.DataFrame(m.dataset.groups(), columns=["config", "split"]).assign(id=None)
    listed = [(file.config, file.split, file.path) for file in m.dataset.files]
    stray = m.sql(
        'SELECT DISTINCT config, split, id FROM found WHERE config IS NULL AND "row" IS NULL AND id IS NOT NULL'
    )
    files = pd.DataFrame(listed + stray, columns=["config", "split", "id"])
    tables: dict[Unit, pd.DataFrame] = {"instance": instances, "split": groups, "file": files}
    for check in checks:
        tables[check.unit][check.name] = _counts(m, check, tables[check.unit])
    return tables


def _counts(m: Measures, check: Check, table: "pd.DataFrame") -> np.ndarray:
    counts = np.zeros(len(table), dtype=np.float32)
    if check.unit == "instance":
        silent = m.sql(f'SELECT "row" FROM instances WHERE NOT coalesce({check.applies}, false)')
        counts[[row for (row,) in silent]] = np.nan  # Great Expectations skips them
        found = m.sql('SELECT "row", count(*) FROM found WHERE "check" = ? GROUP BY "row"', [check.name])
        counts[[row for row, _ in found]] = [count for _, count in found]
        return counts
    key = ["config", "split"] if check.unit == "split" else ["id"]
    places = {tuple(values): at for at, values in enumerate(table[key].itertuples(index=False, name=None))}
    for *unit, count in m.sql(
        f'SELECT {", ".join(key)}, count(*) FROM found WHERE "check" = ? GROUP BY ALL', [check.name]
    ):
        counts[places[tuple(unit)]] = count
    return counts


def _expectations(gx: Any, unit: Unit, checks: Sequence[Check]) -> Any:
    """Rows first, since an empty table meets every other expectation; then zero findings in every column."""
    suite = gx.ExpectationSuite(name=unit)
    suite.add_expectation(gx.expectations.ExpectTableRowCountToBeBetween(min_value=1, meta={"check": "rows"}))
    for check in checks:
        suite.add_expectation(
            gx.expectations.ExpectColumnValuesToBeInSet(
                column=check.name,
                value_set=[0],
                severity="critical" if check.severity == "error" else "warning",
                notes=check.says,
                meta={"check": check.name},
            )
        )
    return suite


def _judge(results: Any, outcomes: dict[str, Outcome]) -> None:
    for result in results.results:
        outcome = outcomes.get(result.expectation_config.meta["check"])
        if outcome is None:
            continue
        if not result.success:
            outcome.status = "failed"
        if result.expectation_config.type == "expect_column_values_to_be_in_set":
            outcome.examined = result.result["element_count"] - result.result["missing_count"]
            outcome.failing = result.result["unexpected_count"]


def _great_expectations() -> Any:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # otherwise it sends usage data
    import great_expectations

    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    return great_expectations


def _first(m: Measures, check: Check) -> list[dict[str, Any]]:
    rows = m.sql(
        f"""SELECT config, split, id, pid, detail FROM found LEFT JOIN configs USING (config) WHERE "check" = ?
        ORDER BY configs.rank, config, split, "row", id, pid, detail LIMIT {SHOWN}""",
        [check.name],
    )
    return [dict(zip(("config", "split", "id", "pid", "detail"), row, strict=True)) for row in rows]
