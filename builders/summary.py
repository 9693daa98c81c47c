"""The paper's table 2 for a built dataset, read from its files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from builders.config import Recipe
from builders.engine import Stage
from builders.manifest import Manifest
from builders.sources import gold_of
from builders.views import connect
from builders.work import Build

_SQL = """
SELECT config, split, count(*) AS rows,
       avg(len(passages)) AS passages, avg(n_tokens) AS tokens, avg(len(gold)) AS gold, avg(confounding_ratio) AS ratio,
       count(*) FILTER (list_contains(flags, 'underfull')) AS underfull,
       count(*) FILTER (list_contains(flags, 'short_pool')) AS short_pool
FROM all_configs GROUP BY config, split
"""


def statistics(folder: Path) -> list[dict[str, Any]]:
    """One record per config and split: rows, means of passages, tokens, gold and achieved ratio, and flags."""
    result = connect(folder).execute(_SQL)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def summary_table(folder: Path, manifest: Manifest) -> Table:
    """The summary table of a build."""
    table = Table(title=f"{manifest.name} {manifest.version}: means per instance")
    for name in ("config", "split", "rows", "passages", "tokens", "gold", "ratio", "underfull", "short pool"):
        table.add_column(name, justify="left" if name in ("config", "split") else "right")
    found = {(record["config"], record["split"]): record for record in statistics(folder)}
    for config, about in manifest.configs.items():
        for split in about.files:
            table.add_row(config, split, *_cells(found[config, split]))
    return table


def _cells(record: dict[str, Any]) -> list[str]:
    return [
        str(record["rows"]),
        f"{record['passages']:.1f}",
        f"{record['tokens']:,.0f}",
        f"{record['gold']:.2f}",
        f"{record['ratio']:.3f}",
        str(record["underfull"] or ""),
        str(record["short_pool"] or ""),
    ]


def warnings(build: Build[Any], stages: Sequence[Stage]) -> list[str]:
    """Warnings about a build: excluded records, splits with too few rows, queries without a hit."""
    lines = []
    for stage in (stage for stage in stages if stage.leaves_out):
        left_out = {
            reason: n
            for reason, n in build.counts(stage.name).items()
            if n and reason not in _NOT_LEFT_OUT and not reason.endswith("_questions")
        }
        if left_out:
            lines.append(f"{stage.name}: " + ", ".join(f"{reason} {n:,}" for reason, n in sorted(left_out.items())))
    retrieve = build.counts("retrieve") if "retrieve" in build.digests else {}
    if retrieve.get("queries_without_hits"):
        lines.append(f"retrieve: {retrieve['queries_without_hits']:,} of {retrieve['queries']:,} queries found nothing")
    if isinstance(build.recipe, Recipe):
        lines += _gold_lines(build.recipe)
    return lines


def _gold_lines(recipe: Recipe) -> list[str]:
    """Which passages are gold in the tasks that do not say it themselves."""
    chosen = [f"{name} {gold_of(task)}" for name, task in recipe.tasks.items() if not task.gold]
    return [f"gold, as the sources of a task say: {', '.join(chosen)}; tasks.NAME.gold changes it"] if chosen else []


_NOT_LEFT_OUT = {"read", "pages", "groups", "short_pool", "underfull", "fragments", "questions_read", "pages_read"}
