"""Matches the four conditions on the same instances; refuses runs that do not match."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from builders.errors import SetupError
from eval_harness.report.study import Study
from eval_harness.report.table import counted
from eval_harness.run.results import Row

NONE, FULL, ORACLE = "closed_book+cite", "vanilla_rag+cite", "oracle_rag+cite"
RETRIEVED = "retrieved_"  # prefix of the fourth condition's names
CITING = "+cite"

# Settings that must be equal across models.
CONTRACT = (
    "split",
    "decoding",
    "prompt_version",
    "citing_version",
    "scorer_version",
    "max_new_tokens",
    "evidence_tokens",
)
_NAMED = 3  # ids that an error lists

Rows = dict[str, dict[str, Row]]  # by id, then method


class LeftOut(NamedTuple):
    """An instance excluded by a condition, and why: `n/a`, `overlength` or `unscorable`."""

    id: str
    method: str
    status: str


class Matched(NamedTuple):
    """A model on a config: results of the instances that count in every condition.

    `contexts` are the methods whose use of evidence is measured, vanilla first.
    """

    model: str
    config: str
    contexts: tuple[str, ...]
    rows: Rows
    left_out: list[LeftOut]

    @property
    def methods(self) -> tuple[str, ...]:
        """All conditions, from closed_book to oracle."""
        return (NONE, *self.contexts, ORACLE)


def matched(study: Study) -> list[Matched]:
    """Each model on each config; SetupError names the differences if the conditions do not match."""
    _check_settings(study)
    found = []
    for config in study.configs:
        of_config = []
        for model, rows in study.rows.items():
            mine = [row for row in rows if row.config == config]
            if mine:
                of_config.append(_matched(model, config, mine))
        _check_models(of_config)
        found += of_config
    if not any(one.rows for one in found):
        reasons = sorted({f"{lost.status} in {lost.method}" for one in found for lost in one.left_out})
        raise SetupError(f"no instance counts in all four conditions: {', '.join(reasons)}")
    return found


def _matched(model: str, config: str, rows: Sequence[Row]) -> Matched:
    by_method: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_method.setdefault(row.method, {})[row.id] = row
    retrieved = [name for name in by_method if name.startswith(RETRIEVED) and name.endswith(CITING)]
    _check_conditions(by_method, retrieved, f"{model} on {config}")
    methods = (NONE, FULL, *retrieved, ORACLE)
    _check_instances({method: by_method[method] for method in methods}, f"{model} on {config}")
    kept: Rows = {}
    left_out = []
    for id in by_method[NONE]:
        mine = {method: by_method[method][id] for method in methods}
        uncounted = [row for row in mine.values() if not counted([row])]
        left_out += [LeftOut(id, row.method, row.status) for row in uncounted]
        if not uncounted:
            kept[id] = mine
    return Matched(model, config, (FULL, *retrieved), kept, left_out)


def _check_settings(study: Study) -> None:
    """Raises SetupError for one model run under two settings, or models run with different prompts or decoding."""
    for label, differing in study.differing.items():
        if differing:
            raise SetupError(
                f"runs of {label.partition(' #')[0]} differ in {', '.join(differing)}; the conditions must use equal "
                "settings: give runs of one setting"
            )
    labels = list(study.settings)
    for label in labels[1:]:
        one, other = study.settings[labels[0]], study.settings[label]
        differing_keys = [key for key in CONTRACT if one.get(key) != other.get(key)]
        if differing_keys:
            raise SetupError(
                f"{labels[0]} and {label} differ in {', '.join(differing_keys)}; give runs with equal settings"
            )


def _check_conditions(by_method: Mapping[str, Any], retrieved: Sequence[str], where: str) -> None:
    missing = [method for method in (NONE, FULL, ORACLE) if method not in by_method]
    if not retrieved:
        missing.append(f"{RETRIEVED}bm25{CITING}")
    if missing:
        plain = sorted(method for method in by_method if not method.endswith(CITING))
        other = f" ({', '.join(plain)} did not ask for evidence, so its prompts differ)" if plain else ""
        raise SetupError(f"{where} lacks {', '.join(missing)}{other}; run: icr2 oncu DIR")


def _check_instances(by_method: Mapping[str, Mapping[str, Row]], where: str) -> None:
    """Raises SetupError naming instances that a condition lacks."""
    every = list(dict.fromkeys(id for rows in by_method.values() for id in rows))
    for method, rows in by_method.items():
        if lacking := [id for id in every if id not in rows]:
            raise SetupError(
                f"{method} of {where} lacks {_listed(lacking)}; rerun to resume, or run it on the same instances"
            )


def _check_models(found: Sequence[Matched]) -> None:
    """Raises SetupError naming the instances of a config that one model was run on and another was not."""
    asked = [one.rows.keys() | {lost.id for lost in one.left_out} for one in found]
    for one, ids in zip(found[1:], asked[1:], strict=True):
        if differing := sorted(ids ^ asked[0]):
            raise SetupError(
                f"{found[0].model} and {one.model} have different instances of {one.config}: {_listed(differing)}; "
                "give runs on the same instances"
            )


def _listed(ids: Sequence[str]) -> str:
    more = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {more} more" if more > 0 else "")
