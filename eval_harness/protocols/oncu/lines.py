"""The protocol's numbers as lines of CSV files."""

from collections.abc import Iterator
from typing import Any

from eval_harness.protocols.oncu.analysis import Analysis
from eval_harness.protocols.oncu.fields import FIELDS
from eval_harness.protocols.oncu.groups import Group
from eval_harness.protocols.oncu.recovery import Estimate, clip
from eval_harness.protocols.oncu.summary import shares
from eval_harness.report.parts import Line
from eval_harness.report.statistics import Interval


def csv_tables(found: Analysis) -> dict[str, list[Line]]:
    """The lines of oncu.csv, scores.csv, validity.csv and modes.csv; an undefined number is left empty."""
    return {
        "oncu.csv": [line for group in found.groups for line in _recovered(group, found.by)],
        "scores.csv": [line for group in found.groups for line in _scores(group, found.by)],
        "validity.csv": _validity(found),
        "modes.csv": list(_modes(found)),
    }


def _recovered(group: Group, by: str) -> Iterator[Line]:
    for field in FIELDS:
        estimate = group.fields[field]
        for context in group.matched.contexts:
            yield _names(group, by) | {"field": field, "context": context} | _recovery(estimate, context)


def _recovery(estimate: Estimate, context: str) -> dict[str, Any]:
    raw, low, high = estimate.recovered[context]
    methods = list(estimate.scores)
    return {
        "n": estimate.n,
        "closed_book": estimate.scores[methods[0]].mean,
        "score": estimate.scores[context].mean,
        "oracle": estimate.scores[methods[-1]].mean,
        "advantage": estimate.advantage.mean,
        "advantage_low": estimate.advantage.low,
        "advantage_high": estimate.advantage.high,
        "valid": "valid" if estimate.valid else "invalid",
        "valid_resamples": estimate.valid_resamples,
        "r": raw,
        "r_low": low,
        "r_high": high,
        "r_clipped": _clipped(raw),
        "r_clipped_low": _clipped(low),
        "r_clipped_high": _clipped(high),
    }


def _scores(group: Group, by: str) -> Iterator[Line]:
    for field, estimate in group.fields.items():
        for method, interval in estimate.scores.items():
            yield _names(group, by) | {"field": field, "condition": method} | _bounds(interval)


def _validity(found: Analysis) -> list[Line]:
    return [
        {"model": share.model, "config": share.config, "by": found.by, "field": share.field}
        | {"groups": share.groups, "valid": share.valid, "share": share.valid / share.groups}
        | {f"mean_r {context}": mean for context, mean in share.raw.items()}
        | {f"mean_r_clipped {context}": mean for context, mean in share.clipped.items()}
        for share in shares(found.groups, found.by)
    ]


def _modes(found: Analysis) -> Iterator[Line]:
    for one, modes in zip(found.matched, found.modes, strict=True):
        for context, given in modes.items():
            labels = found.by_hand.get((one.model, one.config, context), {})
            for id, mode in given.items():
                names = {"model": one.model, "config": one.config, "id": id, "context": context}
                yield names | {"mode": mode} | ({"by_hand": labels.get(id, "")} if found.by_hand else {})


def _names(group: Group, by: str) -> dict[str, Any]:
    return {"model": group.matched.model, "config": group.matched.config, "by": by, "group": group.name}


def _bounds(interval: Interval) -> dict[str, float | int]:
    return {"n": interval.n, "score": interval.mean, "low": interval.low, "high": interval.high}


def _clipped(value: float | None) -> float | None:
    return None if value is None else clip(value)
