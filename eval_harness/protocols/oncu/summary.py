"""Summary over groups: how many have a valid denominator, and their mean R."""

from collections.abc import Sequence
from typing import NamedTuple

from eval_harness.protocols.oncu.fields import FIELDS
from eval_harness.protocols.oncu.groups import INSTANCE, Group
from eval_harness.protocols.oncu.recovery import clip
from eval_harness.report.statistics import MACRO, Interval, intervals


class Share(NamedTuple):
    """For one field of a model on a config: the number of groups, of valid groups, and their mean R by context.

    `intervals` of the clipped means are over instances, so they exist only if every instance is a group.
    """

    model: str
    config: str
    field: str
    groups: int
    valid: int
    raw: dict[str, float]
    clipped: dict[str, float]
    intervals: dict[str, Interval]


def shares(groups: Sequence[Group], by: str) -> list[Share]:
    """The shares of every field, by config and model."""
    together: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        together.setdefault((group.matched.config, group.matched.model), []).append(group)
    return [_share(mine, field, by) for mine in together.values() for field in FIELDS]


def _share(groups: Sequence[Group], field: str, by: str) -> Share:
    matched = groups[0].matched
    estimates = [group.fields[field] for group in groups]
    found = {
        context: [value for one in estimates if (value := one.recovered[context].raw) is not None]
        for context in matched.contexts
    }
    raw = {context: values for context, values in found.items() if values}
    clipped = {context: list(map(clip, values)) for context, values in raw.items()}
    bounds: dict[str, Interval] = {}
    if by == INSTANCE:
        names = ("oncu instances", matched.model, matched.config, field)
        bounds = {c: one for c, v in clipped.items() if (one := intervals({"": v}, *names, c)[MACRO])}
    return Share(
        matched.model,
        matched.config,
        field,
        len(groups),
        sum(one.valid for one in estimates),
        {context: _mean(values) for context, values in raw.items()},
        {context: _mean(values) for context, values in clipped.items()},
        bounds,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
